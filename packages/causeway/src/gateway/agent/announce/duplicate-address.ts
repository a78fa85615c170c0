import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Alarms } from '../alarms.ts';
import type { RoleStatus } from './role-status.ts';
import { hardwareOf, listenToNeighbours } from './neighbours/neighbour-listener.ts';
import { AddressConflicts } from './neighbours/address-conflicts.ts';

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

/** Raises an alarm while another machine announces an address of this gateway in ARP or neighbor discovery. */
export async function watchForStrangers(
  options: DuplicateAddressOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, status, alarms, links } = options;
  const conflicts = new AddressConflicts();
  const listening = links.map((link) => listen(options, link, conflicts, signal));
  while (!signal.aborted) {
    await sleep(clock, everyMs, signal).catch(() => undefined);
    conflicts.setActive(status.isActive, clock.monotonic());
    alarms.set('duplicate-address', conflicts.complaint(clock.monotonic()));
  }
  await Promise.all(listening);
}

/** The gateway works without permission to listen, so a failure to listen doesn't end the agent. */
async function listen(
  options: DuplicateAddressOptions,
  link: string,
  conflicts: AddressConflicts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = options;
  while (!signal.aborted) {
    try {
      // A peer may be on another link of this gateway. Packets from this gateway's own links are not foreign
      // bindings.
      const own = new Set(await Promise.all(options.links.map(hardwareOf)));
      await listenToNeighbours(
        link,
        clock,
        (binding) => {
          if (!options.isOurs(binding.address) || own.has(binding.hardware)) return;
          conflicts.hear(binding, clock.monotonic());
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
