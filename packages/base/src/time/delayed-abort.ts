/** A signal that fires after the other one, once what has to be done before has been done or has failed. */
export function delayedAbort(signal: AbortSignal, prepare: () => Promise<void>): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  const stop = () => void prepare().then(abort, abort);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return controller.signal;
}
