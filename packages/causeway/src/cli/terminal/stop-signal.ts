import { systemClock } from '@causeway/base/time/clock';
import { exitCodes } from './exit-code.ts';

/** A terminal and a launcher may both pass on one and the same key press; that is one request. */
const sameRequestMs = 500;

/**
 * A signal that fires on SIGINT or SIGTERM, and when the launcher that started us is gone, for a
 * process to end in good order. Whoever asks a second time means it at once.
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
    // Listening must not keep a process alive that has ended its work.
    process.channel?.unref();
  }
  return controller.signal;
}
