import { abortedBy } from '@causeway/base/time/clock';

/** Work by lane: one at a time in each, in order of arrival, lanes beside each other. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(lane: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#tails.get(lane);
    const mine = (async () => {
      await before;
      if (signal.aborted) throw abortedBy(signal);
      return work();
    })();
    const tail = mine.catch(() => undefined);
    this.#tails.set(lane, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(lane) === tail) this.#tails.delete(lane);
    }
  }
}
