import { SerialQueue } from './serial-queue.ts';

/** One serial queue for each key. The queues of different keys run concurrently. */
export class KeyedQueue {
  readonly #queues = new Map<string, SerialQueue>();

  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const queue = this.#queues.get(key) ?? new SerialQueue();
    this.#queues.set(key, queue);
    try {
      return await queue.run(work, signal);
    } finally {
      if (queue.isIdle) this.#queues.delete(key);
    }
  }

  /** Resolves when the work of all calls so far has ended. */
  async idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.idle()));
  }
}
