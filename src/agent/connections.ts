import { familyOf } from '../domain/address.ts';
import type { RemovedEndpoint } from '../nftables/layout-change.ts';
import { runProgram } from '../runtime/program.ts';

/** More at once than this are forgotten family by family instead of one by one. */
const mostSingly = 200;

/**
 * Makes the kernel forget connections to endpoints that are gone. A connection that this gateway picked up
 * from the server's side is stored the other way round, so both are looked for.
 */
export async function forgetConnections(
  removed: readonly RemovedEndpoint[],
  signal: AbortSignal,
): Promise<void> {
  if (removed.length > mostSingly) {
    await forgetRewrittenConnections(signal);
    return;
  }
  for (const { address, endpoint } of removed) {
    const family = ['-f', familyOf(address) === 4 ? 'ipv4' : 'ipv6'];
    const ways =
      endpoint === undefined
        ? [
            ['--reply-src', address],
            ['--orig-src', address],
          ]
        : [
            [
              ...['-p', endpoint.protocol.toLowerCase(), '--reply-src', address],
              ...['--orig-dst', endpoint.virtualAddress],
              ...['--orig-port-dst', String(endpoint.virtualPort)],
            ],
            [
              ...['-p', endpoint.protocol.toLowerCase(), '--orig-src', address],
              ...['--orig-port-src', String(endpoint.port)],
              ...['--reply-dst', endpoint.virtualAddress],
            ],
          ];
    for (const way of ways) await runProgram('conntrack', ['-D', ...family, ...way], { signal });
  }
}

/**
 * Forgets every connection whose addresses were rewritten: when another gateway takes over, what is
 * remembered here goes out of date, and would stand in the way when they come back.
 */
export async function forgetRewrittenConnections(signal: AbortSignal): Promise<void> {
  for (const family of ['ipv4', 'ipv6']) {
    for (const way of ['--dst-nat', '--src-nat']) {
      await runProgram('conntrack', ['-D', '-f', family, way], { signal });
    }
  }
}
