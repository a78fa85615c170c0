import type { KubeObject } from '../objects/object.ts';
import { compareResourceVersions } from './resource-version.ts';
import type { Change, ChangeHandler } from './store.ts';

interface Written<T> {
  /** The answer of the newest write. */
  latest: T;
  /** The versions that writes made and that need no further work. */
  readonly echoes: Set<string>;
}

interface OpenWrites<T> {
  count: number;
  /** The changes that arrived since the first of these writes was sent. */
  readonly held: Change<T>[];
}

/** The store whose changes the writes show up in. */
interface Followed<T> {
  keys(): Iterable<string>;
  get(key: string): T | undefined;
  onChange(handler: ChangeHandler<T>): () => void;
}

/**
 * The writes of a controller to objects that it also watches. A watch shows a write again, later than
 * the answer or earlier. This class recognizes such an echo by its resource version, so that the
 * controller does not reconcile because of its own write. Until the echo arrives, `newest` answers
 * with the written object, so that the controller does not write on top of an outdated version.
 *
 * Each write must name the version that it is based on: then no change of another program hides
 * between two versions of our own.
 */
export class OwnWrites<T extends KubeObject> {
  readonly #store: Followed<T>;
  readonly #written = new Map<string, Written<T>>();
  readonly #open = new Map<string, OpenWrites<T>>();
  #handlers: readonly ChangeHandler<T>[] = [];

  constructor(store: Followed<T>) {
    this.#store = store;
    store.onChange((change) => {
      const open = this.#open.get(change.key);
      if (open === undefined) this.#dispatch(change);
      else open.held.push(change);
    });
  }

  /**
   * Calls the handler for each change of the store except for echoes, first of all for each object that
   * the store has already. Answers with a way to stop.
   */
  onForeignChange(handler: ChangeHandler<T>): () => void {
    this.#handlers = [...this.#handlers, handler];
    for (const key of this.#store.keys()) {
      const after = this.#store.get(key);
      if (after !== undefined) handler({ type: 'added', key, after });
    }
    return () => {
      this.#handlers = this.#handlers.filter((other) => other !== handler);
    };
  }

  /** Writes. The echo is passed on as a foreign change if `isExpected` says no to the answer. */
  async write(
    key: string,
    work: () => Promise<T>,
    isExpected: (written: T) => boolean = () => true,
  ): Promise<T> {
    const open = this.#open.get(key) ?? { count: 0, held: [] };
    open.count += 1;
    this.#open.set(key, open);
    try {
      const written = await work();
      this.#remember(key, written, isExpected(written));
      return written;
    } finally {
      open.count -= 1;
      if (open.count === 0) {
        this.#open.delete(key);
        for (const change of open.held) this.#dispatch(change);
      }
    }
  }

  /** The newer one of the object in the store and the answer of our latest write to it. */
  newest(key: string, stored: T | undefined): T | undefined {
    const latest = this.#written.get(key)?.latest;
    if (stored === undefined || latest === undefined) return stored;
    const isSame = stored.metadata?.uid === latest.metadata?.uid;
    return isSame && isOlder(stored, latest) ? latest : stored;
  }

  #remember(key: string, written: T, isEcho: boolean): void {
    const entry = this.#written.get(key) ?? { latest: written, echoes: new Set() };
    entry.latest = written;
    if (isEcho) entry.echoes.add(versionOf(written));
    this.#written.set(key, entry);
  }

  #dispatch(change: Change<T>): void {
    const entry = this.#written.get(change.key);
    if (change.type === 'deleted') {
      this.#written.delete(change.key);
    } else if (entry !== undefined) {
      if (!isOlder(change.after, entry.latest)) this.#written.delete(change.key);
      if (entry.echoes.has(versionOf(change.after))) return;
    }
    for (const handler of this.#handlers) handler(change);
  }
}

function isOlder(left: KubeObject, right: KubeObject): boolean {
  const order = compareResourceVersions(versionOf(left), versionOf(right));
  return order !== undefined && order < 0;
}

function versionOf({ metadata }: KubeObject): string {
  return metadata?.resourceVersion ?? '';
}
