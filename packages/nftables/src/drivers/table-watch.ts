import type { Driver, ForeignChange } from './driver.ts';
import { ForeignChangeQueue } from './foreign-change-queue.ts';

/**
 * Follows what others do to our tables, some of which come and go. Where the kernel keeps others from a
 * table, the only changes to hear of would be our own.
 */
export class TableWatch {
  readonly #queue = new ForeignChangeQueue();
  readonly #watched = new Map<Driver, AbortController>();
  #tables: ReadonlySet<Driver> = new Set();

  /** Call it before a table is read or written for the first time: what happens after it shows. */
  async listen(driver: Driver): Promise<void> {
    if (!driver.isOwned && !this.#watched.has(driver)) await this.#begin(driver);
  }

  /** The tables that are there now. Call it after each write: it tells whether the kernel owns them. */
  setTables(tables: Iterable<Driver>): void {
    this.#tables = new Set(tables);
    this.#watchTables();
  }

  /** Changes of any of the tables, until the signal fires. Throws when one of them can't be watched. */
  async *until(signal: AbortSignal): AsyncGenerator<ForeignChange> {
    this.#watchTables();
    try {
      yield* this.#queue.until(signal);
    } finally {
      this.close();
    }
  }

  close(): void {
    for (const driver of this.#watched.keys()) this.#end(driver);
  }

  #watchTables(): void {
    const wanted = [...this.#tables].filter(({ isOwned }) => !isOwned);
    for (const driver of this.#watched.keys()) if (!wanted.includes(driver)) this.#end(driver);
    for (const driver of wanted) {
      if (this.#watched.has(driver)) continue;
      void this.#begin(driver).then((isHeard) => {
        // Nobody listened for a while, so there is no telling what has happened.
        const what = 'it was not watched for a while';
        if (isHeard) this.#queue.push({ table: driver.table, what });
      });
    }
  }

  /** Answers when the table is listened to, or false if it can't be, which whoever follows is told. */
  #begin(driver: Driver): Promise<boolean> {
    const stop = new AbortController();
    this.#watched.set(driver, stop);
    const listening = Promise.withResolvers<boolean>();
    const follow = async () => {
      for await (const change of driver.watch(stop.signal, () => listening.resolve(true))) {
        // What is still on its way when a table goes is of no concern.
        if (!stop.signal.aborted) this.#queue.push(change);
      }
    };
    follow().catch((error: unknown) => {
      listening.resolve(false);
      if (stop.signal.aborted) return;
      this.#watched.delete(driver);
      this.#queue.fail(error);
    });
    return listening.promise;
  }

  #end(driver: Driver): void {
    this.#watched.get(driver)?.abort();
    this.#watched.delete(driver);
  }
}
