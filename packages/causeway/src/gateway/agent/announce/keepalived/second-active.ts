import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Alarms } from '../../alarms.ts';
import type { RoleStatus } from '../role-status.ts';
import type { Adverts } from './adverts.ts';

export interface SecondActiveOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  readonly status: Pick<RoleStatus, 'isActive'>;
  readonly alarms: Alarms;
  readonly adverts: Pick<Adverts, 'count'>;
}

/**
 * Number of consecutive checks with new adverts of a peer that raise the alarm. A failover causes one such
 * check.
 */
const checks = 3;

/** Raises an alarm while a peer sends adverts although this gateway is active. */
export async function watchForSecondActive(
  options: SecondActiveOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, status, alarms } = options;
  let last: bigint | undefined;
  let seen = 0;
  while (!signal.aborted) {
    await sleep(clock, options.everyMs, signal);
    const now = await options.adverts.count(signal).catch(() => undefined);
    const isHearing = now !== undefined && last !== undefined && now > last;
    seen = status.isActive && isHearing ? seen + 1 : 0;
    last = now;
    alarms.set('two-active', seen >= checks ? 'another gateway is also active' : undefined);
  }
}
