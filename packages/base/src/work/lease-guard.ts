import { CausewayError } from '../error/causeway-error.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { withTimer } from '../time/deadline.ts';

/** The permission to write for a limited time, such as leadership. */
export interface LeaseGuard {
  /** The remaining milliseconds of the permission. Throws if it has ended. */
  remainingMs(): number;
  /**
   * Verifies the permission with its source, independently of the local clock: a suspended machine's clock
   * does not show the elapsed time. Rejects if the permission has ended or can't be verified.
   */
  confirm?(signal: AbortSignal): Promise<void>;
}

/**
 * Runs a write with a signal that fires when the permission ends. A write that takes longer than the
 * remaining time continues while the permission is renewed: a cloud can take half a minute.
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
