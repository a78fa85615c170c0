interface Stamped<Value> {
  /** Undefined after the removal, which is kept until every gateway has confirmed it. */
  readonly value: Value | undefined;
  readonly generation: number;
}

/** Values with the generation of their last change, including removals. */
export class StampedMap<Key, Value> {
  readonly #entries = new Map<Key, Stamped<Value>>();
  readonly #isSame: (left: Value, right: Value) => boolean;

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

  /** Returns whether anything has changed. */
  set(key: Key, value: Value | undefined, generation: number): boolean {
    const before = this.get(key);
    if (before === undefined ? value === undefined : value && this.#isSame(before, value)) {
      return false;
    }
    this.#entries.set(key, { value, generation });
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
    for (const [key, { value, generation }] of this.#entries) {
      if (generation <= base) continue;
      if (value === undefined) removed.push(key);
      else values.push(value);
    }
    return { values, removed };
  }

  /** Drops removals up to the generation. */
  forgetRemoved(upTo: number): void {
    for (const [key, { value, generation }] of this.#entries) {
      if (value === undefined && generation <= upTo) this.#entries.delete(key);
    }
  }
}
