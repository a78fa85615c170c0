import { CausewayError } from '../error/causeway-error.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { withTimer } from '../time/deadline.ts';

/** Something that says how long we may still write; leadership is one. */
export interface LeaseGuard {
  /** Throws when we must not write any more; else the milliseconds for which we may. */
  remainingMs(): number;
  /**
   * Finds out whether we still may, whatever our clock says: that of a machine which was suspended has not
   * noticed. Rejects when we may not, and when nobody can be asked.
   */
  confirm?(signal: AbortSignal): Promise<void>;
}

/**
 * Runs a write with a signal that fires when we may write no more. One that takes longer than what remains
 * at its beginning goes on for as long as the right to it is renewed: a cloud may take half a minute.
 */
export async function withinLease<T>(
  clock: Clock,
  fence: LeaseGuard,
  outer: AbortSignal,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const firstMs = fence.remainingMs();
  const arm = (cutOff: (reason: CausewayError) => void): Timer => {
    let timer = clock.timer(firstMs, renew);
    function renew(): void {
      try {
        timer = clock.timer(fence.remainingMs(), renew);
      } catch (cause) {
        cutOff(new CausewayError('timeout', `${what} outlived the lease`, { cause }));
      }
    }
    return { cancel: () => timer.cancel() };
  };
  return withTimer(outer, arm, work);
}
