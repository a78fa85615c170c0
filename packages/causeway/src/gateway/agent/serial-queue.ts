import { CausewayError } from '@causeway/base/error/causeway-error';

/** Lets one at a time work, in the order of asking. The queue has an end. */
export class SerialQueue {
  readonly #limit: number;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(limit: number) {
    this.#limit = limit;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#limit) {
      throw new CausewayError('exhausted', 'too many requests wait for their turn', {
        hint: 'Send again in a moment.',
      });
    }
    this.#waiting += 1;
    const before = this.#last;
    const mine = before.then(work, work);
    this.#last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Resolves when nobody works or waits. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
