import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Alarms } from '../alarms.ts';
import type { VrrpStatus } from './keepalived/vrrp-status.ts';
import { hardwareOf, listenToClaims } from './neighbours/claim-listener.ts';
import { DuplicateClaims } from './neighbours/duplicate-claims.ts';

export interface DuplicateAddressOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly status: VrrpStatus;
  readonly alarms: Alarms;
  /** The links that addresses of ours are on. */
  readonly links: readonly string[];
  /** Whether the address is one that this gateway announces. */
  isOurs(address: Address): boolean;
}

const everyMs = 500;
const tryAgainMs = 60_000;

/** Raises an alarm while another machine uses an address of ours, by what it says to its neighbours. */
export async function watchForStrangers(
  options: DuplicateAddressOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, status, alarms, links } = options;
  const ledger = new DuplicateClaims();
  const listening = links.map((link) => listen(options, link, ledger, signal));
  while (!signal.aborted) {
    await sleep(clock, everyMs, signal).catch(() => undefined);
    ledger.setMaster(status.state === 'MASTER', clock.monotonic());
    alarms.set('duplicate-address', ledger.complaint(clock.monotonic()));
  }
  await Promise.all(listening);
}

/** Without the right to listen the gateway works all the same, so that is no reason to end. */
async function listen(
  options: DuplicateAddressOptions,
  link: string,
  ledger: DuplicateClaims,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = options;
  while (!signal.aborted) {
    try {
      // A peer may stand at another of our links: what we say there is no claim of a stranger.
      const own = new Set(await Promise.all(options.links.map(hardwareOf)));
      await listenToClaims(
        link,
        clock,
        (claim) => {
          if (!options.isOurs(claim.address) || own.has(claim.hardware)) return;
          ledger.hear(claim, clock.monotonic());
        },
        signal,
      );
    } catch (error) {
      log.warn(
        { link, error: CausewayError.from(error) },
        'neighbours are not heard, so a second user of an address would not be noticed',
      );
      await sleep(clock, tryAgainMs, signal).catch(() => undefined);
    }
  }
}
