import fs from 'node:fs/promises';
import os from 'node:os';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { findStrictForwardChains } from '@causeway/nftables/drivers/foreign-firewall';
import { runProgram } from '@causeway/base/process/run-program';
import { fine, problem, skipped, warning, type Check, type Finding } from './check.ts';
import { findVersion, isAtLeast } from './version.ts';

const leastKernel = [5, 10];

/** Requirements of gateways and nodes on the machine. */
export const machineChecks: readonly Check[] = [
  {
    name: 'kernel',
    run() {
      const release = os.release();
      const version = findVersion(release) ?? [];
      return Promise.resolve(
        isAtLeast(version, leastKernel)
          ? fine(release)
          : problem(`${release} is older than ${leastKernel.join('.')}`, 'Upgrade the kernel.'),
      );
    },
  },
  { name: 'capabilities', run: checkCapabilities },
  programCheck('nft', ['--version'], [1, 0, 0], 'nftables'),
  programCheck('keepalived', ['--version'], [2, 2, 0], 'keepalived'),
  programCheck('conntrack', ['--version'], [1, 4, 0], 'conntrack'),
  { name: 'nftables', run: checkNftables },
  { name: 'foreign firewall', run: checkForeignFirewall },
  { name: 'conntrack size', run: checkConntrack },
];

function programCheck(
  program: string,
  args: readonly string[],
  least: readonly number[],
  packageName: string,
): Check {
  return {
    name: program,
    async run(signal) {
      const fix = `Install it: apt-get install ${packageName}.`;
      const outcome = await runProgram(program, args, { signal }).catch(() => undefined);
      if (outcome === undefined) return problem('not installed; gateways need it', fix);
      const version = findVersion(`${outcome.stdout}${outcome.stderr}`);
      if (version === undefined) return warning('its version is unknown', fix);
      const text = version.join('.');
      return isAtLeast(version, least)
        ? fine(text)
        : problem(`${text} is older than ${least.join('.')}`, `Upgrade ${packageName}.`);
    },
  };
}

/** Bit numbers of the kernel's capabilities. */
const needed = { CAP_NET_ADMIN: 12, CAP_NET_RAW: 13 } as const;

async function checkCapabilities(): Promise<Finding> {
  const status = await fs.readFile('/proc/self/status', 'utf8').catch(() => '');
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  if (mask === undefined) return skipped('this is not Linux');
  const held = BigInt(`0x${mask}`);
  const missing = Object.entries(needed)
    .filter(([, bit]) => (held & (1n << BigInt(bit))) === 0n)
    .map(([name]) => name);
  if (missing.length === 0) return fine(Object.keys(needed).join(' '));
  return warning(
    `${missing.join(' and ')} missing: the kernel can't be checked`,
    'Run the command as root, or with these capabilities, on a gateway or node.',
  );
}

async function checkNftables(signal: AbortSignal): Promise<Finding> {
  const outcome = await runProgram('nft', ['list', 'tables'], { signal }).catch(() => undefined);
  if (outcome === undefined) return skipped('nft is not installed');
  if (outcome.code !== 0) {
    return warning(outcome.stderr.trim().split('\n')[0] ?? '', 'CAP_NET_ADMIN is needed.');
  }
  const names = outcome.stdout.trim().split('\n').filter(Boolean);
  const isOurs = names.some((line) => / causeway/.test(line));
  const others = names.length - (isOurs ? 1 : 0);
  return fine(
    `${isOurs ? 'the table of Causeway exists' : 'no table of Causeway'}, ${others} of other programs`,
  );
}

async function checkForeignFirewall(signal: AbortSignal): Promise<Finding> {
  try {
    const chains = await findStrictForwardChains('causeway', { signal });
    if (chains.length === 0) return fine('no rule blocks forwarded connections');
    return warning(
      chains.map(({ chain, why }) => `${chain}: ${why}`).join('; '),
      'Allow connections to the load balancer addresses there; see docs/topologies.md.',
    );
  } catch (error) {
    return skipped(CausewayError.from(error).message);
  }
}

async function checkConntrack(): Promise<Finding> {
  const read = async (name: string) =>
    Number(await fs.readFile(`/proc/sys/net/netfilter/${name}`, 'utf8'));
  try {
    const [count, most] = [await read('nf_conntrack_count'), await read('nf_conntrack_max')];
    const text = `${count} of ${most} connections`;
    return count < most * 0.8
      ? fine(text)
      : problem(
          text,
          'Raise net.netfilter.nf_conntrack_max; new connections fail when it is full.',
        );
  } catch {
    return skipped('connection tracking is not loaded');
  }
}
