import { systemClock } from '@causeway/base/time/clock';
import { exitCodes } from './exit-code.ts';

/** A terminal and a launcher may both pass on the same key press; that is one request. */
const sameRequestMs = 500;

/**
 * A signal that fires on SIGINT or SIGTERM, and when the launcher has exited, so that the process can shut
 * down cleanly. A second request ends the process at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let askedAt = 0;
  const stop = () => {
    if (!controller.signal.aborted) {
      askedAt = systemClock.monotonic();
      controller.abort();
    } else if (systemClock.monotonic() - askedAt > sameRequestMs) {
      process.exit(exitCodes.interrupted);
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
  if (process.connected) {
    process.once('disconnect', stop);
    // The listener must not keep a finished process alive.
    process.channel?.unref();
  }
  return controller.signal;
}
