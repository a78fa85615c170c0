import { CausewayError } from '@causeway/base/error/causeway-error';

/**
 * The records of one kind by key. If two records conflict, neither is known to be right: both are dropped,
 * and the key keeps its previous value.
 */
export class RecordConflicts<Key extends string, Value> {
  readonly values = new Map<Key, Value>();
  readonly removed = new Set<Key>();
  readonly #ambiguous = new Set<Key>();

  /** Throws `conflict` if another record has the same key. */
  set(key: Key, value: Value): void {
    if (this.values.has(key) || this.removed.has(key) || this.#ambiguous.has(key)) {
      throw this.#drop(key, `${key} appears more than once in the request`);
    }
    this.values.set(key, value);
  }

  remove(key: Key): void {
    if (this.values.has(key) || this.#ambiguous.has(key)) {
      throw this.#drop(key, `${key} is set and removed in the same request`);
    }
    this.removed.add(key);
  }

  #drop(key: Key, message: string): CausewayError {
    this.#ambiguous.add(key);
    this.values.delete(key);
    this.removed.delete(key);
    return new CausewayError('conflict', message);
  }
}
