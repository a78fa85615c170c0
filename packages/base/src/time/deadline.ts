import { CausewayError } from '../error/causeway-error.ts';
import type { Clock, Timer } from './clock.ts';

/**
 * Runs work with a signal that fires after the time limit or with the outer signal, whichever is first.
 * Removes the timer and the listener when the work has ended or failed.
 */
export function withDeadline<T>(
  clock: Clock,
  limitMs: number,
  outer: AbortSignal | undefined,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const tooLate = () => new CausewayError('timeout', `${what} took longer than ${limitMs} ms`);
  return withTimer(outer, (cutOff) => clock.timer(limitMs, () => cutOff(tooLate())), work);
}

/**
 * Like `withDeadline`, with any timer that can cut the work off. The reason of the cut-off replaces the error
 * of the work.
 */
export async function withTimer<T>(
  outer: AbortSignal | undefined,
  arm: (cutOff: (reason: CausewayError) => void) => Timer,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const onOuterAbort = () => controller.abort(outer?.reason);
  if (outer?.aborted === true) onOuterAbort();
  outer?.addEventListener('abort', onOuterAbort, { once: true });
  const timer = arm((reason) => controller.abort(reason));
  try {
    return await work(controller.signal);
  } catch (error) {
    const reason: unknown = controller.signal.reason;
    throw reason instanceof CausewayError && reason.code === 'timeout' ? reason : error;
  } finally {
    timer.cancel();
    outer?.removeEventListener('abort', onOuterAbort);
  }
}
