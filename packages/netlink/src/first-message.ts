import type { Worker } from 'node:worker_threads';
import { CausewayError } from '@causeway/base/error/causeway-error';

/** The first message of a worker; rejects if the worker ends or fails before it. */
export function firstMessage<T>(worker: Worker): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => () => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      act();
    };
    const onMessage = (message: T) => settle(() => resolve(message))();
    const onError = (error: unknown) => settle(() => reject(CausewayError.from(error)))();
    const onExit = settle(() =>
      reject(new CausewayError('unavailable', 'the thread ended before its first message')),
    );
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  });
}
