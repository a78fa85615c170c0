import { abortedBy } from '@causeway/base/time/clock';

/** Runs work by key: one at a time for each key, in order of arrival, and different keys concurrently. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(queueKey: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#tails.get(queueKey);
    const mine = (async () => {
      await before;
      if (signal.aborted) throw abortedBy(signal);
      return work();
    })();
    const tail = mine.catch(() => undefined);
    this.#tails.set(queueKey, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(queueKey) === tail) this.#tails.delete(queueKey);
    }
  }
}
