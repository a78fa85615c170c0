import type { Driver, ForeignChange } from './driver.ts';
import { ForeignChangeQueue } from './foreign-change-queue.ts';

/** Follows what others do to our tables, some of which come and go. */
export class TableWatch {
  readonly #queue = new ForeignChangeQueue();
  readonly #watched = new Map<Driver, AbortController>();
  #tables: ReadonlySet<Driver> = new Set();
  #isFollowed = false;

  /** The tables that are there now. Call it after each write: it tells whether the kernel owns them. */
  setTables(tables: Iterable<Driver>): void {
    this.#tables = new Set(tables);
    if (this.#isFollowed) this.#watchTables();
  }

  /** Changes of any of the tables, until the signal fires. Throws when one of them can't be watched. */
  async *until(signal: AbortSignal): AsyncGenerator<ForeignChange> {
    this.#isFollowed = true;
    this.#watchTables();
    try {
      yield* this.#queue.until(signal);
    } finally {
      this.#isFollowed = false;
      for (const driver of this.#watched.keys()) this.#end(driver);
    }
  }

  #watchTables(): void {
    // Where the kernel keeps others from a table, the only changes to hear of would be our own.
    const wanted = [...this.#tables].filter(({ isOwned }) => !isOwned);
    for (const driver of this.#watched.keys()) if (!wanted.includes(driver)) this.#end(driver);
    for (const driver of wanted) if (!this.#watched.has(driver)) this.#begin(driver);
  }

  #begin(driver: Driver): void {
    const stop = new AbortController();
    this.#watched.set(driver, stop);
    const follow = async () => {
      for await (const change of driver.watch(stop.signal)) {
        // What is still on its way when a table goes is of no concern.
        if (!stop.signal.aborted) this.#queue.push(change);
      }
    };
    follow().catch((error: unknown) => {
      if (!stop.signal.aborted) this.#queue.fail(error);
    });
  }

  #end(driver: Driver): void {
    this.#watched.get(driver)?.abort();
    this.#watched.delete(driver);
  }
}
