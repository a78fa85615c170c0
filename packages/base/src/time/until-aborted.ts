import { abortedBy } from './clock.ts';

/**
 * Waits for work until the signal fires, which ends only this wait. For work with several waiters, and for
 * work that does not end when it is aborted.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(abortedBy(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
