import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { systemRandom, type Random } from '@causeway/base/simulation/random';
import { checkList } from './check-list.ts';
import { checkOwnObject } from './own-objects.ts';
import { startWork } from './yield-to-event-loop.ts';
import type { Selection, WatchOptions } from '../client/client-options.ts';
import type { KubeClient } from '../client/client.ts';
import { KubeError, isGone } from '../client/error.ts';
import { storeObjects, storeSynced, watchRestarts } from '../client/kube-metrics.ts';
import { keyOf, type KubeObject } from '../objects/object.ts';
import { project, type Projection } from './projection.ts';
import { compareResourceVersions } from './resource-version.ts';
import { resourceName, type Resource } from '../objects/resource.ts';
import type { Store } from './store.ts';
import { endsInitialEvents, type WatchEvent } from './watch-event.ts';

/**
 * - `listing`: loading everything, for the first time or after history was lost
 * - `watching`: following changes
 * - `waiting`: something failed; the next attempt follows soon
 * - `stopped`: not running
 */
export type ReflectorState = 'listing' | 'watching' | 'waiting' | 'stopped';

export interface ReflectorOptions<
  T extends KubeObject,
  P extends KubeObject,
  Index extends string,
> {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  readonly store: Store<P, Index>;
  readonly projection: Projection<T, P>;
  readonly selection?: Selection;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random?: Random;
  /** Called for each failure; the reflector tries again in any case. */
  readonly onFailure?: (error: CausewayError) => void;
  /** After this time without a watch, the process is not ready. */
  readonly unreadyAfterMs?: number;
}

const backoff: BackoffPolicy = { baseMs: 200, maxMs: 30_000, jitter: 0.5 };
/** The server ends a watch after 5 to 10 minutes, each at a different time. */
const watchSeconds = { least: 300, spread: 300 };
/** A server with a streamed list that pauses this long does not support streamed lists. */
const initialIdleMs = 10_000;
/** Servers send a bookmark each minute; 30 seconds later the connection counts as dead. */
const watchIdleMs = 90_000;
/** A watch that ends sooner counts as failed, and a list that expires sooner is not repeated immediately. */
const shortestWatchMs = 1_000;
const longestRetryAfterMs = 300_000;

/**
 * Keeps a store equal to the API server: loads everything, follows changes, and loads again as a difference
 * after history was lost. It never gives up; `readiness` reports its failures.
 */
export class Reflector<T extends KubeObject, P extends KubeObject, Index extends string = never> {
  readonly #options: ReflectorOptions<T, P, Index>;
  readonly #restarts;
  readonly #objectsGauge;
  readonly #syncedGauge;
  readonly #log: Log;
  /** The store contains everything up to this version; undefined if a list is needed. */
  #resourceVersion: string | undefined;
  #state: ReflectorState = 'stopped';
  #canStreamLists = true;
  /** After a failure: the server may have been restored to an older state in the meantime. */
  #mustCheckHistory = false;
  /** Time of the last watch, or of the creation. */
  #followedUntil: number;
  #watchingSince = 0;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #lastError: CausewayError | undefined;
  #hasProgressed = false;
  /** Consecutive failures without an event in between. */
  #failures = 0;

  constructor(options: ReflectorOptions<T, P, Index>) {
    this.#options = options;
    this.#restarts = options.metrics.counter(watchRestarts);
    this.#objectsGauge = options.metrics.gauge(storeObjects);
    this.#syncedGauge = options.metrics.gauge(storeSynced);
    this.#log = options.log.child({ resource: resourceName(options.resource) });
    this.#followedUntil = options.clock.monotonic();
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** Undefined if ready, else the reason. */
  readiness(): string | undefined {
    const { resource, store, clock, unreadyAfterMs = 60_000 } = this.#options;
    const name = resourceName(resource);
    const because = this.#lastError === undefined ? '' : `: ${this.#lastError.message}`;
    if (!store.isSynced) return `${name} are not loaded yet${because}`;
    const lostMs = clock.monotonic() - this.#followedUntil;
    if (this.#state === 'watching' || lostMs < unreadyAfterMs) return undefined;
    return `${name} have not been watched for ${Math.round(lostMs / 1000)} s${because}`;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const delayMs = await this.#pass(signal);
      if (delayMs === 0) continue;
      this.#enter('waiting');
      await sleep(this.#options.clock, delayMs, signal).catch(() => {});
    }
    this.#enter('stopped');
  }

  /** One list and watch, or one watch. Returns the delay before the next: 0 after a normal end. */
  async #pass(signal: AbortSignal): Promise<number> {
    this.#hasProgressed = false;
    let error: CausewayError;
    try {
      await this.#listAndWatch(signal);
      this.#count('closed');
      if (this.#hasLasted()) {
        this.#failures = 0;
        return 0;
      }
      error = new KubeError('unavailable', 'the server ended the watch immediately');
    } catch (thrown) {
      if (signal.aborted) return 0;
      error = CausewayError.from(thrown);
      this.#count(reasonOf(error));
    }
    this.#failures = this.#hasProgressed || this.#hasLasted() ? 1 : this.#failures + 1;
    this.#lastError = error;
    this.#options.onFailure?.(error);
    const delayMs = this.#delayAfter(error);
    if (isGone(error)) this.#resourceVersion = undefined;
    else this.#mustCheckHistory = true;
    this.#log.warn({ error, failures: this.#failures, delayMs }, 'the watch was interrupted');
    return delayMs;
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.#resourceVersion !== undefined && this.#mustCheckHistory)
      await this.#checkHistory(signal);
    this.#mustCheckHistory = false;
    if (this.#resourceVersion === undefined) {
      this.#enter('listing');
      if (this.#canStreamLists && (await this.#streamListAndWatch(signal))) return;
      await this.#listPages(signal);
    }
    await this.#watch(signal);
  }

  /**
   * A server that was restored from a backup would not report objects that the store must delete. A list of
   * one object returns the current version; a version below ours means that history was rewritten.
   */
  async #checkHistory(signal: AbortSignal): Promise<void> {
    const { client, resource, selection } = this.#options;
    const pages = client.pages(resource, { ...selection, signal, pageSize: 1, retries: false });
    const current = (await pages.next()).value?.metadata?.resourceVersion ?? '';
    await pages.return();
    const order = compareResourceVersions(current, this.#resourceVersion ?? '');
    if (order !== undefined && order < 0) {
      this.#log.warn(
        { ours: this.#resourceVersion, current },
        'the server returned to an older state',
      );
      this.#resourceVersion = undefined;
    }
  }

  async #listPages(signal: AbortSignal): Promise<void> {
    const { client, resource, selection, clock } = this.#options;
    const found = new Map<string, P>();
    let version: string | undefined;
    for await (const page of client.pages(resource, { ...selection, signal, retries: false })) {
      const yieldToEventLoop = startWork(clock);
      for (const object of page.items) {
        this.#collect(found, object);
        const pause = yieldToEventLoop();
        if (pause !== undefined) await pause;
      }
      version = page.metadata?.resourceVersion;
    }
    await this.#loaded(found, version, signal);
  }

  /**
   * The initial events form the list; the same stream continues as the watch. False if the server does not
   * support it.
   */
  async #streamListAndWatch(signal: AbortSignal): Promise<boolean> {
    const found = new Map<string, P>();
    let isInitial = true;
    const idleTimeoutMs = () => (isInitial ? initialIdleMs : watchIdleMs);
    try {
      const stream = await this.#open(signal, { sendInitialEvents: true, idleTimeoutMs });
      for await (const events of stream) {
        for (const event of events) {
          if (!isInitial) this.#follow(event);
          else if (endsInitialEvents(event)) {
            isInitial = false;
            await this.#loaded(found, event.object.metadata?.resourceVersion, signal);
            this.#enter('watching');
          } else this.#collectEvent(found, event);
        }
        this.#measure();
      }
    } catch (error) {
      if (!isInitial || !isAboutStreaming(error)) throw error;
      this.#log.info(
        { error: CausewayError.from(error) },
        "lists can't be streamed: reading pages",
      );
      this.#canStreamLists = false;
      return false;
    }
    if (isInitial) {
      throw new KubeError('unavailable', 'the server ended the watch before its list was complete');
    }
    return true;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const idleTimeoutMs = () => watchIdleMs;
    const resourceVersion = this.#resourceVersion;
    const { client } = this.#options;
    await client.cluster?.check(client, signal);
    const stream = await this.#open(signal, { resourceVersion, idleTimeoutMs });
    this.#enter('watching');
    for await (const events of stream) {
      for (const event of events) this.#follow(event);
      this.#measure();
    }
  }

  #open(signal: AbortSignal, mode: Omit<WatchOptions, 'signal' | 'timeoutSeconds'>) {
    const { client, resource, selection, random = systemRandom } = this.#options;
    const timeoutSeconds = Math.round(watchSeconds.least + watchSeconds.spread * random());
    return client.watch(resource, { ...selection, ...mode, timeoutSeconds, signal });
  }

  #collect(found: Map<string, P>, object: T): void {
    const key = keyOf(object);
    const known = this.#options.store.get(key);
    const isSame =
      known?.metadata?.uid === object.metadata?.uid &&
      known?.metadata?.resourceVersion === object.metadata?.resourceVersion;
    // For an unchanged object, the store keeps its own copy and drops the new one immediately.
    found.set(
      key,
      known !== undefined && isSame ? known : project(this.#options.projection, object),
    );
  }

  #collectEvent(found: Map<string, P>, event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') return;
    if (event.type === 'DELETED') found.delete(keyOf(event.object));
    else this.#collect(found, event.object);
  }

  async #loaded(
    found: ReadonlyMap<string, P>,
    version: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, clock } = this.#options;
    await this.#checkLoaded(found, signal);
    await store.replace(found, startWork(clock));
    this.#resourceVersion = version;
    this.#loadedAt = clock.monotonic();
    this.#measure();
  }

  /** Throws if the list comes from another cluster, or lacks objects that the server has. */
  async #checkLoaded(found: ReadonlyMap<string, P>, signal: AbortSignal): Promise<void> {
    const { client, resource, store, selection } = this.#options;
    if (client.cluster === undefined) return;
    await client.cluster.check(client, signal);
    await checkOwnObject(client, resource, found, selection, signal);
    const missing = store.values().filter((object) => !found.has(keyOf(object)));
    await checkList(client, resource, missing, selection !== undefined, signal);
  }

  /**
   * Applies one change. Versions only grow within a watch, so an older one is a repetition; a bookmark with
   * an older version means that the server was restored to an older state.
   */
  #follow(event: WatchEvent<T>): void {
    const { store, projection } = this.#options;
    const version = event.object.metadata?.resourceVersion ?? '';
    const order = compareResourceVersions(version, this.#resourceVersion ?? '');
    const isOlder = order !== undefined && order < 0;
    switch (event.type) {
      case 'BOOKMARK':
        if (isOlder) throw new KubeError('gone', 'the server returned to an older state');
        break;
      case 'ADDED':
      case 'MODIFIED':
        if (!isOlder) store.put(project(projection, event.object));
        break;
      case 'DELETED':
        if (!isOlder) store.remove(keyOf(event.object));
        break;
    }
    this.#hasProgressed = true;
    if (!isOlder) this.#resourceVersion = version;
  }

  #hasLasted(): boolean {
    const { clock } = this.#options;
    return this.#state === 'watching' && clock.monotonic() - this.#watchingSince >= shortestWatchMs;
  }

  #delayAfter(error: CausewayError): number {
    const { clock, random = systemRandom } = this.#options;
    // Lost history stays lost: list immediately, unless a list was made just now.
    const isLongLoaded = clock.monotonic() - this.#loadedAt >= shortestWatchMs;
    if (isGone(error) && this.#resourceVersion !== undefined && isLongLoaded) return 0;
    const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
    const own = backoffDelay(backoff, this.#failures, random);
    return Math.max(own, Math.min(asked, longestRetryAfterMs));
  }

  #measure(): void {
    const { resource, store } = this.#options;
    this.#objectsGauge.set({ resource: resourceName(resource) }, store.size);
  }

  #enter(state: ReflectorState): void {
    const { resource, store, clock } = this.#options;
    if (this.#state === 'watching') this.#followedUntil = clock.monotonic();
    if (state === 'watching') {
      this.#watchingSince = clock.monotonic();
      this.#lastError = undefined;
    }
    this.#state = state;
    const isFollowing = state === 'watching' && store.isSynced;
    this.#syncedGauge.set({ resource: resourceName(resource) }, isFollowing ? 1 : 0);
  }

  #count(reason: string): void {
    this.#restarts.add({ resource: resourceName(this.#options.resource), reason });
  }
}

function reasonOf(error: CausewayError): string {
  if (error.code === 'gone') return 'gone';
  if (error instanceof KubeError && error.status === 429) return 'throttled';
  return error.code === 'timeout' ? 'idle' : 'failed';
}

/** Servers before 1.32 reject streamed lists, or do not support them and never complete the list. */
function isAboutStreaming(error: unknown): boolean {
  return (
    isErrorCode(error, 'invalid') ||
    isErrorCode(error, 'unsupported') ||
    isErrorCode(error, 'timeout')
  );
}
