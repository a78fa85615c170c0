/**
 * A set for each key, for keys with mostly one member. A single member is stored without a set, which would
 * take 200 bytes. Members must not be sets.
 */
export class SmallSets<Key, Member extends string | object> {
  readonly #sets = new Map<Key, Member | Set<Member>>();

  get size(): number {
    return this.#sets.size;
  }

  has(key: Key): boolean {
    return this.#sets.has(key);
  }

  /** The members of the key, in their order of insertion. */
  of(key: Key): Iterable<Member> {
    const held = this.#sets.get(key);
    if (held === undefined) return [];
    return held instanceof Set ? held : [held];
  }

  add(key: Key, member: Member): void {
    const held = this.#sets.get(key);
    if (held === undefined) this.#sets.set(key, member);
    else if (held instanceof Set) held.add(member);
    else if (held !== member) this.#sets.set(key, new Set([held, member]));
  }

  delete(key: Key, member: Member): void {
    const held = this.#sets.get(key);
    if (held === member) this.#sets.delete(key);
    if (!(held instanceof Set) || !held.delete(member)) return;
    const [only] = held;
    if (only === undefined) this.#sets.delete(key);
    else if (held.size === 1) this.#sets.set(key, only);
  }
}
