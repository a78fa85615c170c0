import type { Driver, ForeignChange } from './driver.ts';
import { ForeignChangeQueue } from './foreign-change-queue.ts';

/**
 * Watches our tables for foreign changes; tables may be added and removed. A table that we own is not
 * watched: all its changes would be our own.
 */
export class TableWatch {
  readonly #queue = new ForeignChangeQueue();
  readonly #watched = new Map<Driver, AbortController>();
  #tables: ReadonlySet<Driver> = new Set();

  /** Call it before a table is read or written for the first time: all later changes are reported. */
  async listen(driver: Driver): Promise<void> {
    if (!driver.isOwned && !this.#watched.has(driver)) await this.#begin(driver);
  }

  /**
   * Sets the existing tables. Call it after each write: only then is it known whether the kernel lets us own
   * them.
   */
  setTables(tables: Iterable<Driver>): void {
    this.#tables = new Set(tables);
    this.#watchTables();
  }

  /** Changes of any of the tables, until the signal aborts. Throws if one of them can't be watched. */
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
        // The table was not watched for a while, so its changes are unknown.
        const what = 'it was not watched for a while';
        if (isHeard) this.#queue.push({ table: driver.table, what });
      });
    }
  }

  /**
   * Resolves when the table is watched, or with false if it can't be; the consumer of `until` gets the error.
   */
  #begin(driver: Driver): Promise<boolean> {
    const stop = new AbortController();
    this.#watched.set(driver, stop);
    const listening = Promise.withResolvers<boolean>();
    const follow = async () => {
      for await (const change of driver.watch(stop.signal, () => listening.resolve(true))) {
        // Changes that arrive after the end of a watch are ignored.
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
