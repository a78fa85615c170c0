import { WakeUp } from '@causeway/base/work/wake-up';
import type { ForeignChange } from './driver.ts';

/**
 * Foreign changes on their way to whoever repairs the table. Changes that pile up while nobody takes
 * them become one: a single repair answers them all.
 */
export class ForeignChangeQueue {
  #pending: ForeignChange | undefined;
  #failure: { readonly error: unknown } | undefined;
  readonly #pushed = new WakeUp();

  push(change: ForeignChange): void {
    this.#pending ??= change;
    this.#pushed.call();
  }

  /** Whoever takes the changes is told: none can be heard of any more. */
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
