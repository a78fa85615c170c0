import type { ForeignChange } from './driver.ts';

/**
 * Foreign changes on their way to whoever repairs the table. Changes that pile up while nobody takes
 * them become one: a single repair answers them all.
 */
export class ForeignChangeQueue {
  #pending: ForeignChange | undefined;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  push(change: ForeignChange): void {
    this.#pending ??= change;
    this.#wake?.();
  }

  /** Whoever takes the changes is told: none can be heard of any more. */
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
