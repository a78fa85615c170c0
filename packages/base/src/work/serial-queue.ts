import { CausewayError } from '../error/causeway-error.ts';
import { abortedBy } from '../time/clock.ts';

/**
 * Runs one piece of work at a time, in the order of the calls. A failure does not stop the next work. The
 * queue is the mutual exclusion of this project: state that only queued work accesses needs no lock.
 */
export class SerialQueue {
  readonly #limit: number;
  #size = 0;
  #last: Promise<void> = Promise.resolve();

  /** The limit counts running and waiting work. */
  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  /** Whether no work runs or waits. */
  get isIdle(): boolean {
    return this.#size === 0;
  }

  /** Never starts the work before the call has returned. An abort before the start cancels the work. */
  run<T>(work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#size >= this.#limit) {
      return Promise.reject(
        new CausewayError('exhausted', 'too many requests are waiting', {
          hint: 'Send the request again later.',
        }),
      );
    }
    this.#size += 1;
    const result = this.#last.then(() => {
      if (signal?.aborted === true) throw abortedBy(signal);
      return work();
    });
    const leave = () => {
      this.#size -= 1;
    };
    this.#last = result.then(leave, leave);
    return result;
  }

  /** Resolves when the work of all calls so far has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
