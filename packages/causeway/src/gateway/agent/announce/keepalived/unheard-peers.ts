import type { Address } from '@causeway/base/address/address';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Alarms } from '../../alarms.ts';
import type { RoleStatus } from '../role-status.ts';
import type { Adverts, HeardPeers } from './adverts.ts';

export interface UnheardPeersOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  readonly status: Pick<RoleStatus, 'role'>;
  readonly alarms: Pick<Alarms, 'set'>;
  readonly adverts: Pick<Adverts, 'heardPeers'>;
}

/** Number of consecutive checks without an advert that raise the alarm. */
const checks = 10;

/**
 * Raises an alarm while this standby gets adverts of the active gateway on one network or family and none on
 * another. An active gateway sends on all, so its settings name another address for this gateway, or the network
 * drops the adverts.
 */
export async function watchForUnheardPeers(
  options: UnheardPeersOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, alarms, adverts, status } = options;
  let last: readonly HeardPeers[] = [];
  let missed: number[] = [];
  while (!signal.aborted) {
    await sleep(clock, options.everyMs, signal);
    const now = await adverts.heardPeers(signal).catch(() => undefined);
    if (now === undefined) continue;
    const isStandby = status.role === 'standby';
    missed = now.map(({ packets }, index) =>
      isStandby && packets === last[index]?.packets ? (missed[index] ?? 0) + 1 : 0,
    );
    last = now;
    const unheard = now.filter((_, index) => (missed[index] ?? 0) >= checks);
    const isHearing = unheard.length < now.length;
    const peers = unheard.flatMap((each) => each.peers);
    const message = isHearing && peers.length > 0 ? describeUnheard(peers) : undefined;
    alarms.set('peers-unheard', message);
  }
}

function describeUnheard(peers: readonly Address[]): string {
  return `nothing was heard from the peer ${peers.join(', ')}, while adverts arrive on another network or family. Check the peers in the settings of the active gateway, and protocol 112 between the gateways`;
}
