import { WakeUp } from '@causeway/base/work/wake-up';
import type { ForeignChange } from './driver.ts';

/**
 * A queue of foreign changes for the repair. Changes that accumulate become one: a single repair handles them
 * all.
 */
export class ForeignChangeQueue {
  #pending: ForeignChange | undefined;
  #failure: { readonly error: unknown } | undefined;
  readonly #pushed = new WakeUp();

  push(change: ForeignChange): void {
    this.#pending ??= change;
    this.#pushed.call();
  }

  /** Reports to the consumer that no more changes can be received. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#pushed.call();
  }

  async *until(signal: AbortSignal): AsyncGenerator<ForeignChange> {
    while (!signal.aborted) {
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure !== undefined) throw failure.error;
      const change = this.#pending;
      if (change === undefined) {
        await this.#pushed.next(signal);
        continue;
      }
      this.#pending = undefined;
      yield change;
    }
  }
}
