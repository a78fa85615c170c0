import { abortedBy } from '../runtime/clock.ts';

/** Waits for work that others wait for as well: when the signal fires, only this wait ends. */
export function untilAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(abortedBy(signal));
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(abortedBy(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
