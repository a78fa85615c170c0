import { CausewayError } from '@causeway/base/error/causeway-error';
import { discardLog, type Log } from '@causeway/base/observability/log';
import { SmallSets } from '@causeway/base/work/small-sets';
import { untilAborted } from '@causeway/base/time/until-aborted';
import type { YieldToEventLoop } from './yield-to-event-loop.ts';
import { keyOf, type KubeObject } from '../objects/object.ts';

/** What happened to one object, as far as this store has seen. */
export type Change<T> =
  | { readonly type: 'added'; readonly key: string; readonly after: T }
  | { readonly type: 'updated'; readonly key: string; readonly before: T; readonly after: T }
  | { readonly type: 'deleted'; readonly key: string; readonly before: T };

export type ChangeHandler<T> = (change: Change<T>) => void;

/** Names the values under which an object is to be found. */
export type IndexFunction<T> = (object: T) => readonly string[];

export interface StoreOptions<T, Index extends string> {
  readonly indexes?: Readonly<Record<Index, IndexFunction<T>>>;
  readonly log?: Log;
}

/**
 * The objects of one resource, by key and by index. After its first load it always shows a state that
 * the server was in, and each change of an object is told once. Objects are shared: never change one.
 */
export class Store<T extends KubeObject, Index extends string = never> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, { of: IndexFunction<T>; keys: SmallSets<string, string> }>();
  readonly #log: Log;
  #handlers: readonly ChangeHandler<T>[] = [];
  #isSynced = false;
  readonly #syncedPromise = Promise.withResolvers<void>();

  constructor(options: StoreOptions<T, Index> = {}) {
    this.#log = options.log ?? discardLog;
    for (const [name, of] of Object.entries<IndexFunction<T>>(options.indexes ?? {})) {
      this.#indexes.set(name, { of, keys: new SmallSets() });
    }
  }

  /** Resolves when everything that the server had at the start is here, and every handler knows. */
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

  /** The objects that the index files under the value, in no particular order. */
  byIndex(index: Index, value: string): readonly T[] {
    const found: T[] = [];
    for (const key of this.#indexes.get(index)?.keys.of(value) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /**
   * Calls back for each change from now on, first of all with what is here already. Handlers put keys
   * into queues and return; one that throws is logged and harms nobody else. Answers with a way to stop.
   */
  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers = [...this.#handlers, handler];
    for (const [key, after] of this.#objects) this.#tell([handler], { type: 'added', key, after });
    return () => {
      this.#handlers = this.#handlers.filter((other) => other !== handler);
    };
  }

  /** Puts one object in place. */
  put(after: T): void {
    const key = keyOf(after);
    const changes: Change<T>[] = [];
    this.#place(key, after, changes);
    for (const change of changes) this.#tell(this.#handlers, change);
  }

  remove(key: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#drop(key, before);
    this.#tell(this.#handlers, { type: 'deleted', key, before });
  }

  /**
   * Makes the store hold exactly these objects. The contents change at once; handlers are told of the
   * differences, with pauses, before this answers.
   */
  async replace(
    objects: ReadonlyMap<string, T>,
    yieldToEventLoop: YieldToEventLoop,
  ): Promise<void> {
    const changes: Change<T>[] = [];
    for (const [key, before] of this.#objects) {
      if (objects.has(key)) continue;
      this.#drop(key, before);
      changes.push({ type: 'deleted', key, before });
    }
    for (const [key, after] of objects) this.#place(key, after, changes);
    // Handlers that come during a pause have been told of the new contents already.
    const handlers = this.#handlers;
    for (const change of changes) {
      this.#tell(handlers, change);
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
      // Another object under the same name: what belonged to the first must go.
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

  #tell(handlers: readonly ChangeHandler<T>[], change: Change<T>): void {
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
