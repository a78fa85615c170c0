import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Alarms } from '../alarms.ts';
import type { VrrpStatus } from './keepalived/vrrp-status.ts';

export interface DuplicateActiveOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  readonly status: VrrpStatus;
  readonly alarms: Alarms;
  /** How many VRRP packets of the peers have arrived so far. */
  countAdverts(signal: AbortSignal): Promise<bigint>;
}

/** So many looks in a row with adverts of a peer in between make an alarm; a handover has one. */
const checks = 3;

/** Raises an alarm while a peer goes on sending adverts although this gateway is the master. */
export async function watchForSecondActive(
  options: DuplicateActiveOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, status, alarms } = options;
  let last: bigint | undefined;
  let seen = 0;
  while (!signal.aborted) {
    await sleep(clock, options.everyMs, signal);
    const now = await options.countAdverts(signal).catch(() => undefined);
    const isHearing = now !== undefined && last !== undefined && now > last;
    seen = status.state === 'MASTER' && isHearing ? seen + 1 : 0;
    last = now;
    alarms.set('two-masters', seen >= checks ? 'another gateway is master as well' : undefined);
  }
}
