import { CausewayError } from '@causeway/base/error/causeway-error';
import { discardLog, type Log } from '@causeway/base/observability/log';
import { SmallSets } from '@causeway/base/work/small-sets';
import { untilAborted } from '@causeway/base/time/until-aborted';
import type { YieldToEventLoop } from './yield-to-event-loop.ts';
import { keyOf, type KubeObject } from '../objects/object.ts';

/** A change of one object, as seen by this store. */
export type Change<T> =
  | { readonly type: 'added'; readonly key: string; readonly after: T }
  | { readonly type: 'updated'; readonly key: string; readonly before: T; readonly after: T }
  | { readonly type: 'deleted'; readonly key: string; readonly before: T };

export type ChangeHandler<T> = (change: Change<T>) => void;

/** Returns the index values of an object. */
export type IndexFunction<T> = (object: T) => readonly string[];

export interface StoreOptions<T, Index extends string> {
  readonly indexes?: Readonly<Record<Index, IndexFunction<T>>>;
  /** Other objects count as deleted. */
  readonly keeps?: (object: T) => boolean;
  readonly log?: Log;
}

/**
 * The objects of one resource, by key and by index. After its first load it always shows a state of the
 * server, and reports each change of an object once. Objects are shared: never modify one.
 */
export class Store<T extends KubeObject, Index extends string = never> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, { of: IndexFunction<T>; keys: SmallSets<string, string> }>();
  readonly #keeps: (object: T) => boolean;
  readonly #log: Log;
  #handlers: readonly ChangeHandler<T>[] = [];
  #isSynced = false;
  readonly #syncedPromise = Promise.withResolvers<void>();

  constructor(options: StoreOptions<T, Index> = {}) {
    this.#keeps = options.keeps ?? (() => true);
    this.#log = options.log ?? discardLog;
    for (const [name, of] of Object.entries<IndexFunction<T>>(options.indexes ?? {})) {
      this.#indexes.set(name, { of, keys: new SmallSets() });
    }
  }

  /** Resolves when the store has the server's initial state and every handler has received it. */
  get synced(): Promise<void> {
    return this.#syncedPromise.promise;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): MapIterator<string> {
    return this.#objects.keys();
  }

  values(): MapIterator<T> {
    return this.#objects.values();
  }

  /** The objects with this value in the index, in no particular order. */
  byIndex(index: Index, value: string): readonly T[] {
    const found: T[] = [];
    for (const key of this.#indexes.get(index)?.keys.of(value) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /**
   * Calls the handler for each existing object and each later change. Handlers put keys into queues and
   * return; an error of one is logged and does not affect the others. Returns a function that removes the
   * handler.
   */
  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers = [...this.#handlers, handler];
    for (const [key, after] of this.#objects) {
      this.#notify([handler], { type: 'added', key, after });
    }
    return () => {
      this.#handlers = this.#handlers.filter((other) => other !== handler);
    };
  }

  /** Adds or replaces one object. */
  put(after: T): void {
    const key = keyOf(after);
    if (!this.#keeps(after)) {
      this.remove(key);
      return;
    }
    const changes: Change<T>[] = [];
    this.#place(key, after, changes);
    for (const change of changes) this.#notify(this.#handlers, change);
  }

  remove(key: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#drop(key, before);
    this.#notify(this.#handlers, { type: 'deleted', key, before });
  }

  /**
   * Replaces the whole contents. The contents change immediately; handlers receive the differences, with
   * pauses, before this resolves.
   */
  async replace(
    objects: ReadonlyMap<string, T>,
    yieldToEventLoop: YieldToEventLoop,
  ): Promise<void> {
    const changes: Change<T>[] = [];
    for (const [key, before] of this.#objects) {
      const after = objects.get(key);
      if (after !== undefined && this.#keeps(after)) continue;
      this.#drop(key, before);
      changes.push({ type: 'deleted', key, before });
    }
    for (const [key, after] of objects) {
      if (this.#keeps(after)) this.#place(key, after, changes);
    }
    // Handlers that are added during a pause have already received the new contents.
    const handlers = this.#handlers;
    for (const change of changes) {
      this.#notify(handlers, change);
      const pause = yieldToEventLoop();
      if (pause !== undefined) await pause;
    }
    if (this.#isSynced) return;
    this.#isSynced = true;
    this.#syncedPromise.resolve();
  }

  #place(key: string, after: T, changes: Change<T>[]): void {
    const before = this.#objects.get(key);
    if (before === undefined) {
      changes.push({ type: 'added', key, after });
    } else if (before.metadata?.uid !== after.metadata?.uid) {
      // Another object under the same name: the state of the first must be deleted.
      changes.push({ type: 'deleted', key, before }, { type: 'added', key, after });
    } else if (before.metadata?.resourceVersion === after.metadata?.resourceVersion) {
      return;
    } else {
      changes.push({ type: 'updated', key, before, after });
    }
    if (before !== undefined) this.#unfile(key, before);
    this.#objects.set(key, after);
    for (const index of this.#indexes.values()) {
      for (const value of index.of(after)) index.keys.add(value, key);
    }
  }

  #drop(key: string, object: T): void {
    this.#unfile(key, object);
    this.#objects.delete(key);
  }

  #unfile(key: string, object: T): void {
    for (const index of this.#indexes.values()) {
      for (const value of index.of(object)) index.keys.delete(value, key);
    }
  }

  #notify(handlers: readonly ChangeHandler<T>[], change: Change<T>): void {
    for (const handler of handlers) {
      try {
        handler(change);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        this.#log.error({ error, key: change.key }, 'a handler of changes failed');
      }
    }
  }
}

/** Waits until all of these stores have synced: nothing is written before everything is known. */
export function whenSynced(
  stores: readonly { readonly synced: Promise<void> }[],
  signal: AbortSignal,
): Promise<void> {
  const all = Promise.all(stores.map((store) => store.synced));
  return untilAborted(
    all.then(() => undefined),
    signal,
  );
}
