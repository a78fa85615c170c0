import type { RowChanges, RowKind, Rows } from '../../overview/rows.ts';

type Shelves = { readonly [Kind in RowKind]: Map<string, Rows[Kind]> };

/** The rows from the server, and the lists that the views show. */
export class RowsStore {
  #shelves: Shelves = emptyShelves();
  /** Rows of a new connection, shown when all have arrived. */
  #arriving: Shelves | undefined;
  /** Whether all rows have arrived once. */
  #isFilled = false;
  /** How many Services were shown before that. */
  #shownFirst = 0;
  readonly #listeners = new Set<() => void>();
  readonly #lists = new Map<RowKind, unknown>();

  /** A new connection sends all rows again; existing rows are shown until all have arrived. */
  begin(): void {
    this.#arriving = this.#isFilled ? emptyShelves() : undefined;
  }

  take(changes: RowChanges): void {
    const shelves = this.#arriving ?? this.#shelves;
    put(shelves.service, changes.set.service, changes.removed.service);
    put(shelves.gateway, changes.set.gateway, changes.removed.gateway);
    put(shelves.pool, changes.set.pool, changes.removed.pool);
    put(shelves.event, changes.set.event, changes.removed.event);
    // Of the very first rows, enough for one screen are shown at once, the others when all have arrived.
    const isShown = this.#isFilled || this.#shownFirst === 0;
    if (this.#arriving !== undefined || !isShown) return;
    this.#shownFirst = shelves.service.size;
    this.#notify();
  }

  complete(): void {
    this.#isFilled = true;
    if (this.#arriving !== undefined) this.#shelves = this.#arriving;
    this.#arriving = undefined;
    this.#notify();
  }

  /** Sorted by key; the same array until a row changes. */
  list<Kind extends RowKind>(kind: Kind): readonly Rows[Kind][] {
    const known = this.#lists.get(kind);
    if (known !== undefined) return known as readonly Rows[Kind][];
    const shelf: Map<string, Rows[Kind]> = this.#shelves[kind];
    const made = [...shelf.values()].sort((left, right) => (left.key < right.key ? -1 : 1));
    this.#lists.set(kind, made);
    return made;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #notify(): void {
    this.#lists.clear();
    for (const listener of this.#listeners) listener();
  }
}

function emptyShelves(): Shelves {
  return { service: new Map(), gateway: new Map(), pool: new Map(), event: new Map() };
}

function put<Row extends { readonly key: string }>(
  shelf: Map<string, Row>,
  set: readonly Row[] = [],
  removed: readonly string[] = [],
): void {
  for (const row of set) shelf.set(row.key, row);
  for (const key of removed) shelf.delete(key);
}
