import type { RowChanges, RowKind, Rows } from '../../overview/rows.ts';

type Shelves = { readonly [Kind in RowKind]: Map<string, Rows[Kind]> };

/** The rows as the server has told them, and the lists that the views show. */
export class RowsStore {
  #shelves: Shelves = emptyShelves();
  /** Rows of a connection that has not told everything yet: shown when it has. */
  #arriving: Shelves | undefined;
  /** Whether everything was told once. */
  #isFilled = false;
  /** How many Services were shown before that. */
  #shownFirst = 0;
  readonly #listeners = new Set<() => void>();
  readonly #lists = new Map<RowKind, unknown>();

  /** A new connection tells everything anew; what is shown stays until it has, if there is anything. */
  begin(): void {
    this.#arriving = this.#isFilled ? emptyShelves() : undefined;
  }

  take(changes: RowChanges): void {
    const shelves = this.#arriving ?? this.#shelves;
    put(shelves.service, changes.set.service, changes.removed.service);
    put(shelves.gateway, changes.set.gateway, changes.removed.gateway);
    put(shelves.pool, changes.set.pool, changes.removed.pool);
    put(shelves.event, changes.set.event, changes.removed.event);
    // Of the very first rows enough to fill a screen are shown at once, the others when all are here.
    const isShown = this.#isFilled || this.#shownFirst === 0;
    if (this.#arriving !== undefined || !isShown) return;
    this.#shownFirst = shelves.service.size;
    this.#tell();
  }

  complete(): void {
    this.#isFilled = true;
    if (this.#arriving !== undefined) this.#shelves = this.#arriving;
    this.#arriving = undefined;
    this.#tell();
  }

  /** Sorted by key; the same array until something changes. */
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

  #tell(): void {
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
