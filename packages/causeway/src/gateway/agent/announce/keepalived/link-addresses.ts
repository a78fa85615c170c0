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

/** The host addresses on an interface (/32, /128). Virtual addresses are host addresses. */
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

/** The host addresses in the output of `ip -json address show`. */
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
    throw new CausewayError('unavailable', 'the output of ip has no addresses', { cause });
  }
}

/** Removes addresses from an interface in one batch. Missing addresses are ignored. */
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
