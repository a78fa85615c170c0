import type { KubeObject } from './object.ts';
import type { GroupResource } from './resource-definition.ts';
import { ApiError } from './status.ts';

/** One committed change. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  /** The object after the change. For a deletion, its last state with the version of the deletion. */
  readonly object: KubeObject;
  /** The object before the change, absent for an addition. Selectors need both states. */
  readonly previous?: KubeObject;
}

export interface StoreOptions {
  /** The number of changes per resource that a watch can go back. */
  readonly historyLimit?: number;
  readonly firstVersion?: number;
}

/**
 * The objects of all resources, in memory. One counter numbers the changes of all resources. Listeners are
 * notified synchronously and in order, before the write returns. If a listener writes, that change is sent
 * after all listeners got the change that caused it.
 */
export class ObjectStore {
  #version: number;
  readonly #historyLimit: number;
  readonly #shelves = new Map<GroupResource, Shelf>();
  readonly #followers = new Set<(resource: GroupResource, change: Change) => void>();
  readonly #pending: { readonly shelf: Shelf; readonly change: Change }[] = [];
  #isNotifying = false;

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

  /** All objects, or those of one namespace, sorted by namespace and name. */
  list(resource: GroupResource, namespace?: string): readonly KubeObject[] {
    const shelf = this.#shelves.get(resource);
    if (shelf === undefined) return [];
    const all = shelf.ordered();
    return namespace === undefined
      ? all
      : all.filter((object) => object.metadata.namespace === namespace);
  }

  /** The objects at an earlier version. Throws `Expired` if the history doesn't reach back that far. */
  listAt(resource: GroupResource, version: number, namespace?: string): readonly KubeObject[] {
    const shelf = this.#shelf(resource);
    if (version >= this.#version) return this.list(resource, namespace);
    if (version < shelf.compactedAt) throw expired(version, shelf.compactedAt);
    return shelf
      .rewound(version)
      .filter((object) => namespace === undefined || object.metadata.namespace === namespace);
  }

  /** The caller ensures that the name is free. */
  insert(resource: GroupResource, object: KubeObject): KubeObject {
    const stored = this.#stamped(object);
    const change: Change = { type: 'ADDED', version: this.#version, object: stored };
    this.#commit(this.#shelf(resource), keyOfObject(stored), change);
    return stored;
  }

  /** The caller ensures that the object exists and has the expected version. */
  replace(resource: GroupResource, object: KubeObject): KubeObject {
    const shelf = this.#shelf(resource);
    const key = keyOfObject(object);
    const previous = shelf.objects.get(key);
    if (previous === undefined)
      throw new ApiError('InternalError', `${resource} ${key} is not stored`);
    const stored = this.#stamped(object);
    this.#commit(shelf, key, {
      type: 'MODIFIED',
      version: this.#version,
      object: stored,
      previous,
    });
    return stored;
  }

  /** Removes the object. The returned object and the notification have the version of the deletion. */
  remove(resource: GroupResource, object: KubeObject): KubeObject {
    const shelf = this.#shelf(resource);
    const key = keyOfObject(object);
    const previous = shelf.objects.get(key);
    if (previous === undefined)
      throw new ApiError('InternalError', `${resource} ${key} is not stored`);
    const last = this.#stamped(object);
    this.#commit(shelf, key, { type: 'DELETED', version: this.#version, object: last, previous });
    return last;
  }

  /**
   * Calls the listener for every change after `after`. Past changes are sent before this returns, later
   * changes as they happen. Listeners must not throw. Throws `Expired` if the history doesn't reach back that
   * far.
   */
  watch(
    resource: GroupResource,
    after: number,
    listener: (change: Change) => void,
  ): { close(): void } {
    const shelf = this.#shelf(resource);
    if (after < shelf.compactedAt) throw expired(after, shelf.compactedAt);
    let seen = after;
    // A watch that starts during a notification has already got this change from the history.
    const notify = (change: Change) => {
      if (change.version <= seen) return;
      seen = change.version;
      listener(change);
    };
    for (const change of shelf.changesAfter(after)) notify(change);
    shelf.listeners.add(notify);
    return { close: () => void shelf.listeners.delete(notify) };
  }

  /** Calls the listener for every future change, including those of new resources. */
  follow(listener: (resource: GroupResource, change: Change) => void): { close(): void } {
    this.#followers.add(listener);
    return { close: () => void this.#followers.delete(listener) };
  }

  /** The resources that have or had objects. */
  resources(): readonly GroupResource[] {
    return [...this.#shelves.keys()];
  }

  /** Drops the history, so that a watch from any earlier version gets `Expired`. */
  compact(): void {
    for (const shelf of this.#shelves.values()) shelf.compact(this.#version);
  }

  #commit(shelf: Shelf, key: string, change: Change): void {
    shelf.put(key, change);
    this.#pending.push({ shelf, change });
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    try {
      for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
        for (const listener of next.shelf.listeners) listener(next.change);
      }
    } finally {
      this.#isNotifying = false;
    }
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
      shelf.listeners.add((change) => {
        for (const follower of this.#followers) follower(resource, change);
      });
      this.#shelves.set(resource, shelf);
    }
    return shelf;
  }
}

/** One resource's objects and its latest changes. */
class Shelf {
  readonly objects = new Map<string, KubeObject>();
  readonly listeners = new Set<(change: Change) => void>();
  /** The earliest version at which a watch can start. */
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
  }

  ordered(): readonly KubeObject[] {
    this.#ordered ??= sortedByKey(this.objects);
    return this.#ordered;
  }

  rewound(version: number): readonly KubeObject[] {
    const objects = new Map(this.objects);
    for (const { object, previous } of this.changesAfter(version).toReversed()) {
      if (previous === undefined) objects.delete(keyOfObject(object));
      else objects.set(keyOfObject(previous), previous);
    }
    return sortedByKey(objects);
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

  /** Truncates the history only at twice its limit, so that most changes need no copy. */
  #remember(change: Change): void {
    this.#history.push(change);
    if (this.#history.length < this.#historyLimit * 2) return;
    const dropped = this.#history.splice(0, this.#historyLimit);
    this.compactedAt = dropped.at(-1)?.version ?? this.compactedAt;
  }
}

const expired = (asked: number, oldest: number) =>
  new ApiError('Expired', `too old resource version: ${asked} (${oldest})`);

const sortedByKey = (objects: ReadonlyMap<string, KubeObject>): readonly KubeObject[] =>
  [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);

const keyOf = (namespace: string | undefined, name: string) => `${namespace ?? ''}/${name}`;

const keyOfObject = ({ metadata }: KubeObject) => keyOf(metadata.namespace, metadata.name);
