import { CausewayError } from '@causeway/base/error/causeway-error';

/**
 * What the records of one kind say about each key. Where two of them are at odds, neither can be told to
 * be the right one: both are dropped, and the key keeps what it had.
 */
export class RecordConflicts<Key extends string, Value> {
  readonly values = new Map<Key, Value>();
  readonly removed = new Set<Key>();
  readonly #ambiguous = new Set<Key>();

  /** Throws `conflict` where another record claims the key as well. */
  set(key: Key, value: Value): void {
    if (this.values.has(key) || this.removed.has(key) || this.#ambiguous.has(key)) {
      throw this.#drop(key, `${key} stands more than once in the request`);
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
