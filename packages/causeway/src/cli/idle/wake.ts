import { Command } from 'commander';
import { parseDuration } from '@causeway/base/time/duration';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { printableLines } from '@causeway/base/text/printable';
import { describeTarget } from '../../idling/annotations.ts';
import { ScaleDiscovery } from '../../idling/scale-discovery.ts';
import { wakeNow, type WakeResult } from '../../idling/wake-now.ts';
import { Waker } from '../../idling/waker.ts';
import type { ObjectName } from '@causeway/kubernetes/objects/object';
import { systemClock } from '@causeway/base/time/clock';
import {
  addClusterOptions,
  withCluster,
  type ClusterOptions,
  type ClusterSession,
} from '../cluster/cluster-connection.ts';
import { addChoiceOptions, chosen } from './service-choice.ts';
import { Progress } from '../terminal/progress.ts';

interface WakeOptions extends ClusterOptions {
  readonly all?: boolean;
  readonly selector?: string;
  readonly timeout: string;
}

/** `causeway wake`: wakes Services without waiting for a connection. */
export function wakeCommand(): Command {
  const command = new Command('wake')
    .description('wake idle Services without waiting for a connection')
    .argument('[service...]', 'names, or namespace/name');
  addChoiceOptions(addClusterOptions(command)).option(
    '--timeout <time>',
    'how long to wait for the first ready pod',
    '5m',
  );
  return command.action(async (names: string[], options: WakeOptions) => {
    const timeoutMs = parseDuration(options.timeout);
    await withCluster(options, async (session) => {
      await wakeAll(session, await chosen(session, names, options), timeoutMs);
    });
  });
}

async function wakeAll(
  { client, signal }: ClusterSession,
  names: readonly ObjectName[],
  timeoutMs: number,
): Promise<void> {
  const waker = new Waker({ client, discovery: new ScaleDiscovery(client) });
  const options = { client, waker, clock: systemClock, timeoutMs };
  const progress = new Progress('Waking', names.length);
  const results = await Promise.allSettled(
    names.map((name) => wakeNow(options, name, signal).finally(() => progress.step(name.name))),
  );
  progress.clear();
  const failures: CausewayError[] = [];
  for (const [index, result] of results.entries()) {
    const { namespace = '', name = '' } = names[index] ?? {};
    if (result.status === 'fulfilled') {
      process.stdout.write(`${namespace}/${name}: ${printableLines(describe(result.value))}\n`);
      continue;
    }
    const error = CausewayError.from(result.reason);
    failures.push(error);
    process.stderr.write(`causeway: ${printableLines(error.message)}\n`);
  }
  const [first] = failures;
  if (first !== undefined) {
    throw new CausewayError(first.code, `${failures.length} of ${names.length} were not woken`);
  }
}

function describe({ wasAsleep, started, running, missing }: WakeResult): string {
  if (!wasAsleep) return 'was awake';
  const parts = [
    ...started.map((target) => `scaled ${describeTarget(target)} to ${target.replicas}`),
    ...running.map((target) => `${describeTarget(target)} was running`),
    ...missing.map((target) => `${describeTarget(target)} does not exist any more`),
  ];
  return `awake: ${parts.join(', ')}`;
}
