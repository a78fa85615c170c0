interface Stamped<Value> {
  /** Undefined after the removal, which is kept until every gateway has confirmed it. */
  readonly value: Value | undefined;
  readonly generation: number;
}

/** Entries of the log beyond twice the number of keys, before the log is written again. */
const slack = 64;

/**
 * Values with the generation of their last change, including removals. A log of the changes finds those after a
 * generation without a walk over all values.
 */
export class StampedMap<Key, Value> {
  readonly #entries = new Map<Key, Stamped<Value>>();
  readonly #isSame: (left: Value, right: Value) => boolean;
  /** Removed keys, in the order of their generations. */
  readonly #removed = new Map<Key, number>();
  /** The changes, in the order of their generations. A key that has changed again counts at its last place only. */
  #log: { readonly key: Key; readonly generation: number }[] = [];

  constructor(isSame: (left: Value, right: Value) => boolean) {
    this.#isSame = isSame;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** The generation in which the key last changed; 0 if it never did. */
  stampOf(key: Key): number {
    return this.#entries.get(key)?.generation ?? 0;
  }

  /** Returns whether anything has changed. Generations never decrease. */
  set(key: Key, value: Value | undefined, generation: number): boolean {
    const before = this.get(key);
    if (before === undefined ? value === undefined : value && this.#isSame(before, value)) {
      return false;
    }
    this.#entries.set(key, { value, generation });
    this.#removed.delete(key);
    if (value === undefined) this.#removed.set(key, generation);
    this.#record(key, generation);
    return true;
  }

  *values(): Generator<Value> {
    for (const { value } of this.#entries.values()) if (value !== undefined) yield value;
  }

  *keys(): Generator<Key> {
    for (const [key, { value }] of this.#entries) if (value !== undefined) yield key;
  }

  /** The changes after the generation: new values, and removed keys. */
  since(base: number): { readonly values: readonly Value[]; readonly removed: readonly Key[] } {
    const values: Value[] = [];
    const removed: Key[] = [];
    for (const key of this.#changedSince(base)) {
      const value = this.get(key);
      if (value === undefined) removed.push(key);
      else values.push(value);
    }
    return { values, removed };
  }

  /** Drops removals up to the generation. */
  forgetRemoved(upTo: number): void {
    for (const [key, generation] of this.#removed) {
      if (generation > upTo) return;
      this.#removed.delete(key);
      this.#entries.delete(key);
    }
  }

  #record(key: Key, generation: number): void {
    this.#log.push({ key, generation });
    if (this.#log.length <= 2 * this.#entries.size + slack) return;
    const last = new Map<Key, number>();
    for (const { key: each, generation: at } of this.#log) {
      if (this.stampOf(each) === at) last.set(each, at);
    }
    this.#log = [...last].map(([each, at]) => ({ key: each, generation: at }));
  }

  #changedSince(base: number): Set<Key> {
    const changed = new Set<Key>();
    for (let index = this.#log.length - 1; index >= 0; index -= 1) {
      const entry = this.#log[index];
      if (entry === undefined || entry.generation <= base) break;
      if (this.#entries.has(entry.key)) changed.add(entry.key);
    }
    return new Set([...changed].reverse());
  }
}
