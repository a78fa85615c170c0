/** Any stored object. */
export interface Row {
  readonly id: string;
}

/**
 * Rows by ID, with indexes for the fields that lists filter by. Lookups among thousands of objects use an
 * index, never a scan of the table.
 */
export class Table<T extends Row> {
  private readonly rows = new Map<string, T>();
  private readonly indexes = new Map<string, Index<T>>();
  private readonly compare: (left: T, right: T) => number;
  private ordered: T[] | undefined;

  constructor(
    indexed: Readonly<Record<string, (row: T) => readonly string[]>>,
    compare: (left: T, right: T) => number,
  ) {
    this.compare = compare;
    for (const [name, keysOf] of Object.entries(indexed)) {
      this.indexes.set(name, { keysOf, entries: new Map(), keysById: new Map() });
    }
  }

  get size(): number {
    return this.rows.size;
  }

  get(id: string): T | undefined {
    return this.rows.get(id);
  }

  insert(row: T): T {
    this.rows.set(row.id, row);
    this.ordered = undefined;
    for (const index of this.indexes.values()) addToIndex(index, row);
    return row;
  }

  /** Changes a row in place and updates the indexes. */
  update(row: T, change: Partial<T>): T {
    Object.assign(row, change);
    for (const index of this.indexes.values()) {
      removeFromIndex(index, row.id);
      addToIndex(index, row);
    }
    return row;
  }

  delete(id: string): void {
    if (!this.rows.delete(id)) return;
    this.ordered = undefined;
    for (const index of this.indexes.values()) removeFromIndex(index, id);
  }

  hasIndex(name: string): boolean {
    return this.indexes.has(name);
  }

  /** Rows with this key in the index, in any order. */
  by(indexName: string, key: string): T[] {
    const ids = this.indexes.get(indexName)?.entries.get(key) ?? [];
    return [...ids].flatMap((id) => this.rows.get(id) ?? []);
  }

  count(indexName: string, key: string): number {
    return this.indexes.get(indexName)?.entries.get(key)?.size ?? 0;
  }

  /** All rows in the table's order. */
  all(): readonly T[] {
    this.ordered ??= [...this.rows.values()].sort(this.compare);
    return this.ordered;
  }

  sort(rows: T[]): T[] {
    return rows.sort(this.compare);
  }
}

interface Index<T> {
  readonly keysOf: (row: T) => readonly string[];
  readonly entries: Map<string, Set<string>>;
  /** The keys of each row when it was indexed, to find its entries after the row has changed. */
  readonly keysById: Map<string, readonly string[]>;
}

function addToIndex<T extends Row>(index: Index<T>, row: T): void {
  const keys = index.keysOf(row);
  index.keysById.set(row.id, keys);
  for (const key of keys) {
    const ids = index.entries.get(key) ?? new Set();
    ids.add(row.id);
    index.entries.set(key, ids);
  }
}

function removeFromIndex<T extends Row>(index: Index<T>, id: string): void {
  for (const key of index.keysById.get(id) ?? []) {
    const ids = index.entries.get(key);
    ids?.delete(id);
    if (ids?.size === 0) index.entries.delete(key);
  }
  index.keysById.delete(id);
}

export function byId(left: Row, right: Row): number {
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}
