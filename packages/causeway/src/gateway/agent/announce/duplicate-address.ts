import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Alarms } from '../alarms.ts';
import type { RoleStatus } from './role-status.ts';
import { hardwareOf, listenToClaims } from './neighbours/neighbour-listener.ts';
import { DuplicateClaims } from './neighbours/address-conflicts.ts';

export interface DuplicateAddressOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly status: Pick<RoleStatus, 'isActive'>;
  readonly alarms: Alarms;
  /** The links of this gateway's addresses. */
  readonly links: readonly string[];
  /** Whether this gateway announces the address. */
  isOurs(address: Address): boolean;
}

const everyMs = 500;
const tryAgainMs = 60_000;

/** Raises an alarm while another machine claims an address of this gateway in ARP or neighbor discovery. */
export async function watchForStrangers(
  options: DuplicateAddressOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, status, alarms, links } = options;
  const ledger = new DuplicateClaims();
  const listening = links.map((link) => listen(options, link, ledger, signal));
  while (!signal.aborted) {
    await sleep(clock, everyMs, signal).catch(() => undefined);
    ledger.setActive(status.isActive, clock.monotonic());
    alarms.set('duplicate-address', ledger.complaint(clock.monotonic()));
  }
  await Promise.all(listening);
}

/** The gateway works without permission to listen, so a failure to listen doesn't end the agent. */
async function listen(
  options: DuplicateAddressOptions,
  link: string,
  ledger: DuplicateClaims,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = options;
  while (!signal.aborted) {
    try {
      // A peer may be on another link of this gateway. Packets from this gateway's own links are not foreign
      // claims.
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
        "can't listen to neighbors; another user of an address would not be detected",
      );
      await sleep(clock, tryAgainMs, signal).catch(() => undefined);
    }
  }
}
