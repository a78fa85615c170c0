import { exitCodes } from './exit-code.ts';

/**
 * A signal that fires on SIGINT or SIGTERM, for a process to end in good order. Whoever asks a
 * second time means it at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller.signal;
}
