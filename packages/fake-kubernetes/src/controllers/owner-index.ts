import type { OwnerReference } from '../object.ts';

/** Index of owners by UID, and of object keys by UID. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Set<string>>();
  readonly #owners = new Map<string, readonly string[]>();
  readonly #keys = new Map<string, string>();

  /** Sets an object's owners and returns the UIDs of its previous owners. */
  set(key: string, references: readonly OwnerReference[]): readonly string[] {
    const before = this.#owners.get(key) ?? [];
    for (const uid of before) {
      const known = this.#dependents.get(uid);
      known?.delete(key);
      if (known?.size === 0) this.#dependents.delete(uid);
    }
    const owners = references.map(({ uid }) => uid);
    for (const uid of owners) {
      const known = this.#dependents.get(uid) ?? new Set();
      known.add(key);
      this.#dependents.set(uid, known);
    }
    if (owners.length === 0) this.#owners.delete(key);
    else this.#owners.set(key, owners);
    return before;
  }

  name(uid: string, key: string | undefined): void {
    if (key === undefined) this.#keys.delete(uid);
    else this.#keys.set(uid, key);
  }

  keyOf(uid: string): string | undefined {
    return this.#keys.get(uid);
  }

  dependents(uid: string): string[] {
    return [...(this.#dependents.get(uid) ?? [])];
  }
}
