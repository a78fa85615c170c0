import { sleep, type Clock } from '@causeway/base/time/clock';
import { rowKinds, type RowChanges, type RowKind, type Rows } from './rows.ts';

type Listener = (changes: RowChanges) => void;

interface Shelf<Kind extends RowKind> {
  readonly rows: Map<string, Rows[Kind]>;
  /** Keys that changed since the last notification. */
  readonly changed: Set<string>;
}

type Shelves = { readonly [Kind in RowKind]: Shelf<Kind> };

/** Listeners are notified a few times per second at most. */
const pauseMs = 250;

/** All current rows. Listeners get all rows first, and then the changes, in batches. */
export class RowStore {
  readonly #shelves: Shelves = {
    service: { rows: new Map(), changed: new Set() },
    gateway: { rows: new Map(), changed: new Set() },
    pool: { rows: new Map(), changed: new Set() },
    event: { rows: new Map(), changed: new Set() },
  };
  readonly #listeners = new Set<Listener>();

  set<Kind extends RowKind>(kind: Kind, row: Rows[Kind]): void {
    const shelf: Shelf<Kind> = this.#shelves[kind];
    const old = shelf.rows.get(row.key);
    if (old !== undefined && JSON.stringify(old) === JSON.stringify(row)) return;
    shelf.rows.set(row.key, row);
    this.#changed(kind, row.key);
  }

  remove(kind: RowKind, key: string): void {
    if (this.#shelves[kind].rows.delete(key)) this.#changed(kind, key);
  }

  get<Kind extends RowKind>(kind: Kind, key: string): Rows[Kind] | undefined {
    const shelf: Shelf<Kind> = this.#shelves[kind];
    return shelf.rows.get(key);
  }

  rows<Kind extends RowKind>(kind: Kind): Iterable<Rows[Kind]> {
    const shelf: Shelf<Kind> = this.#shelves[kind];
    return shelf.rows.values();
  }

  /** Sends all rows at once, and then the changes. Returns a function that unsubscribes. */
  listen(listener: Listener): () => void {
    listener({
      set: {
        service: [...this.rows('service')],
        gateway: [...this.rows('gateway')],
        pool: [...this.rows('pool')],
        event: [...this.rows('event')],
      },
      removed: {},
    });
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies listeners of changes until the signal fires. */
  async run(clock: Clock, signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(clock, pauseMs, signal);
      this.#notify();
    }
  }

  #changed(kind: RowKind, key: string): void {
    this.#shelves[kind].changed.add(key);
  }

  #notify(): void {
    const set: { -readonly [Kind in RowKind]?: Rows[Kind][] } = {};
    const removed: Partial<Record<RowKind, string[]>> = {};
    let count = 0;
    const gather = <Kind extends RowKind>(kind: Kind, shelf: Shelf<Kind>) => {
      const present: Rows[Kind][] = [];
      const gone: string[] = [];
      for (const key of shelf.changed) {
        const row = shelf.rows.get(key);
        if (row === undefined) gone.push(key);
        else present.push(row);
      }
      count += shelf.changed.size;
      shelf.changed.clear();
      if (present.length > 0) Object.assign(set, { [kind]: present });
      if (gone.length > 0) removed[kind] = gone;
    };
    for (const kind of rowKinds) gather(kind, this.#shelves[kind] as Shelf<typeof kind>);
    if (count === 0) return;
    for (const listener of this.#listeners) listener({ set, removed });
  }
}
