interface Stamped<Value> {
  /** Undefined where it is gone: kept until every gateway knows. */
  readonly value: Value | undefined;
  readonly generation: number;
}

/** Values with the generation in which each last changed, those that went away among them. */
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

  /** Answers whether anything is different now. */
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

  /** What has changed after the generation: the new values, and the keys that are gone. */
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

  /** Forgets what was removed up to the generation. */
  forgetRemoved(upTo: number): void {
    for (const [key, { value, generation }] of this.#entries) {
      if (value === undefined && generation <= upTo) this.#entries.delete(key);
    }
  }
}
