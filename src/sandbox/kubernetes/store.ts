import type { KubeObject } from './object.ts';
import type { GroupResource } from './resource-definition.ts';
import { ApiError } from './status.ts';

/** One committed change. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  /** The object after the change; for a deletion its last state, at the version of the deletion. */
  readonly object: KubeObject;
  /** The object before the change, absent for an addition: selectors need both sides. */
  readonly previous?: KubeObject;
}

export interface StoreOptions {
  /** How many changes of one resource a watch can go back. */
  readonly historyLimit?: number;
  readonly firstVersion?: number;
}

/**
 * The objects of all resources, in memory. Every change gets the next number of one counter that all
 * resources share, and is told to listeners synchronously and in order, before the write returns.
 */
export class ObjectStore {
  #version: number;
  readonly #historyLimit: number;
  readonly #shelves = new Map<GroupResource, Shelf>();

  constructor(options: StoreOptions = {}) {
    this.#version = options.firstVersion ?? 1;
    this.#historyLimit = options.historyLimit ?? 4096;
  }

  /** The version of the latest change. */
  get version(): number {
    return this.#version;
  }

  get(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
  ): KubeObject | undefined {
    return this.#shelves.get(resource)?.objects.get(keyOf(namespace, name));
  }

  /** All objects, or one namespace's, ordered by namespace and name. */
  list(resource: GroupResource, namespace?: string): readonly KubeObject[] {
    const shelf = this.#shelves.get(resource);
    if (shelf === undefined) return [];
    const all = shelf.ordered();
    return namespace === undefined
      ? all
      : all.filter((object) => object.metadata.namespace === namespace);
  }

  /** The caller has made sure that the name is free. */
  insert(resource: GroupResource, object: KubeObject): KubeObject {
    const stored = this.#stamped(object);
    this.#shelf(resource).put(keyOfObject(stored), {
      type: 'ADDED',
      version: this.#version,
      object: stored,
    });
    return stored;
  }

  /** The caller has made sure that the object is there and that its version is the expected one. */
  replace(resource: GroupResource, object: KubeObject): KubeObject {
    const shelf = this.#shelf(resource);
    const key = keyOfObject(object);
    const previous = shelf.objects.get(key);
    if (previous === undefined)
      throw new ApiError('InternalError', `${resource} ${key} is not stored`);
    const stored = this.#stamped(object);
    shelf.put(key, { type: 'MODIFIED', version: this.#version, object: stored, previous });
    return stored;
  }

  /** Takes the object out; what is returned and told to listeners has the version of the deletion. */
  remove(resource: GroupResource, object: KubeObject): KubeObject {
    const shelf = this.#shelf(resource);
    const key = keyOfObject(object);
    const previous = shelf.objects.get(key);
    if (previous === undefined)
      throw new ApiError('InternalError', `${resource} ${key} is not stored`);
    const last = this.#stamped(object);
    shelf.put(key, { type: 'DELETED', version: this.#version, object: last, previous });
    return last;
  }

  /**
   * Calls the listener for every change after `after`: first, before this returns, for those that have
   * happened, then as they happen. Listeners must not throw. Throws `Expired` where the history no
   * longer reaches back that far.
   */
  watch(
    resource: GroupResource,
    after: number,
    listener: (change: Change) => void,
  ): { close(): void } {
    const shelf = this.#shelf(resource);
    if (after < shelf.compactedAt) {
      throw new ApiError('Expired', `too old resource version: ${after} (${shelf.compactedAt})`);
    }
    for (const change of shelf.changesAfter(after)) listener(change);
    shelf.listeners.add(listener);
    return { close: () => void shelf.listeners.delete(listener) };
  }

  /** Forgets the history, so that a watch from any earlier version is told that it expired. */
  compact(): void {
    for (const shelf of this.#shelves.values()) shelf.compact(this.#version);
  }

  #stamped(object: KubeObject): KubeObject {
    this.#version += 1;
    return {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(this.#version) },
    };
  }

  #shelf(resource: GroupResource): Shelf {
    let shelf = this.#shelves.get(resource);
    if (shelf === undefined) {
      shelf = new Shelf(this.#historyLimit);
      this.#shelves.set(resource, shelf);
    }
    return shelf;
  }
}

/** One resource's objects and its latest changes. */
class Shelf {
  readonly objects = new Map<string, KubeObject>();
  readonly listeners = new Set<(change: Change) => void>();
  /** A watch can start at this version or a later one. */
  compactedAt = 0;
  readonly #historyLimit: number;
  #history: Change[] = [];
  #ordered: readonly KubeObject[] | undefined;

  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  put(key: string, change: Change): void {
    if (change.type === 'DELETED') this.objects.delete(key);
    else this.objects.set(key, change.object);
    this.#ordered = undefined;
    this.#remember(change);
    for (const listener of this.listeners) listener(change);
  }

  ordered(): readonly KubeObject[] {
    this.#ordered ??= [...this.objects]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object);
    return this.#ordered;
  }

  changesAfter(version: number): readonly Change[] {
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#history[middle]?.version ?? 0) > version) high = middle;
      else low = middle + 1;
    }
    return this.#history.slice(low);
  }

  compact(version: number): void {
    this.#history = [];
    this.compactedAt = version;
  }

  /** Lets the history grow to twice its limit before cutting it, so that a change costs no copy. */
  #remember(change: Change): void {
    this.#history.push(change);
    if (this.#history.length < this.#historyLimit * 2) return;
    const dropped = this.#history.splice(0, this.#historyLimit);
    this.compactedAt = dropped.at(-1)?.version ?? this.compactedAt;
  }
}

const keyOf = (namespace: string | undefined, name: string) => `${namespace ?? ''}/${name}`;

const keyOfObject = ({ metadata }: KubeObject) => keyOf(metadata.namespace, metadata.name);
