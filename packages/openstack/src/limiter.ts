import { abortedBy } from '@causeway/base/time/clock';

/** Limits concurrent work; the rest waits in order of arrival. */
export class Limiter {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #enter(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(abortedBy(signal));
    if (this.#running < this.#limit) {
      this.#running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        this.#waiting.delete(start);
        reject(abortedBy(signal));
      };
      this.#waiting.add(start);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** The slot goes directly to the next waiting caller, so a new caller can't take it in between. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
