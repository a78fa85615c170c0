import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy } from '@causeway/base/time/clock';
import { PutBack } from './ledger.ts';

/** Remembers that the store was put back, whichever call noticed it. */
export class PutBackNotice {
  #error: PutBack | undefined;
  #noticed = Promise.withResolvers<undefined>();

  get error(): PutBack | undefined {
    return this.#error;
  }

  /** Returns the error, and remembers it if the store was put back. */
  note(thrown: unknown): CausewayError {
    const error = CausewayError.from(thrown);
    if (error instanceof PutBack) {
      this.#error = error;
      this.#noticed.resolve(undefined);
    }
    return error;
  }

  clear(): void {
    this.#error = undefined;
    this.#noticed = Promise.withResolvers();
  }

  /** Rejects when the store was put back, or with `aborted`. */
  async until(signal: AbortSignal): Promise<void> {
    const stopped = Promise.withResolvers<undefined>();
    const onAbort = () => stopped.reject(abortedBy(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([this.#noticed.promise, stopped.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
    if (this.#error !== undefined) throw this.#error;
  }
}
