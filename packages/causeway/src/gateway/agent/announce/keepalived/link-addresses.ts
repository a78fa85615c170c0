import { z } from 'zod';
import { familyOf, tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { runProgram } from '@causeway/base/process/run-program';

const linkRecords = z.array(
  z.object({
    ifname: z.string().optional(),
    addr_info: z
      .array(z.object({ local: z.string().optional(), prefixlen: z.number() }))
      .optional(),
  }),
);

/** The addresses on an interface that stand for themselves alone (/32, /128), as virtual ones do. */
export async function readHostAddresses(
  link: string,
  signal: AbortSignal | undefined,
): Promise<Set<Address>> {
  const outcome = await runProgram('ip', ['-json', 'address', 'show', 'dev', link], { signal });
  if (outcome.code !== 0) {
    throw new CausewayError('unavailable', `the addresses of ${link} can't be read`, {
      hint: outcome.stderr.trim().slice(0, 200),
    });
  }
  return hostAddressesIn(outcome.stdout);
}

/** Those in what `ip -json address show` prints. */
export function hostAddressesIn(text: string): Set<Address> {
  const found = new Set<Address>();
  for (const { addr_info: addresses } of recordsIn(text)) {
    for (const { local, prefixlen } of addresses ?? []) {
      const address = local === undefined ? undefined : tryParseAddress(local);
      if (address === undefined) continue;
      if (prefixlen === (familyOf(address) === 4 ? 32 : 128)) found.add(address);
    }
  }
  return found;
}

function recordsIn(text: string): z.infer<typeof linkRecords> {
  try {
    return linkRecords.parse(JSON.parse(text));
  } catch (cause) {
    throw new CausewayError('unavailable', 'ip printed something else than addresses', { cause });
  }
}

/** Takes addresses off an interface in one go. Those that are gone already are no matter. */
export async function removeHostAddresses(
  link: string,
  addresses: Iterable<Address>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const lines = [...addresses].map(
    (address) => `address delete ${address}/${familyOf(address) === 4 ? 32 : 128} dev ${link}`,
  );
  if (lines.length === 0) return;
  await runProgram('ip', ['-force', '-batch', '-'], { input: `${lines.join('\n')}\n`, signal });
}
