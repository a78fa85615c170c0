import type { ForeignChange } from './driver.ts';

/**
 * A queue of foreign changes for the repair. Changes that accumulate become one: a single repair handles them
 * all.
 */
export class ForeignChangeQueue {
  #pending: ForeignChange | undefined;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  push(change: ForeignChange): void {
    this.#pending ??= change;
    this.#wake?.();
  }

  /** Reports to the consumer that no more changes can be received. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  async *until(signal: AbortSignal): AsyncGenerator<ForeignChange> {
    while (!signal.aborted) {
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure !== undefined) throw failure.error;
      const change = this.#pending;
      if (change === undefined) {
        await this.#nextPush(signal);
        continue;
      }
      this.#pending = undefined;
      yield change;
    }
  }

  #nextPush(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        this.#wake = undefined;
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
