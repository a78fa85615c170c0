/** A signal that fires after the given signal, when the preparation has ended or failed. */
export function delayedAbort(signal: AbortSignal, prepare: () => Promise<void>): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  const stop = () => void prepare().then(abort, abort);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return controller.signal;
}
