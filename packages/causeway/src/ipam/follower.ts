import { isErrorCode } from '@causeway/base/error/causeway-error';
import { abortedBy, sleep, type Clock, type Timer } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import { nextTurn } from '@causeway/base/time/next-turn';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import { partsOfKey, stateRoot } from './keys.ts';
import { PutBack, type Entry, type Ledger } from './ledger.ts';
import { PutBackNotice } from './put-back-notice.ts';
import { View } from './view.ts';

const retryMs = 200;
/** Number of entries read into the view before other work can run. */
const sliceSize = 500;
/** Interval at which a watch without changes is asked for its progress. */
const progressEveryMs = 20;
const barrierLimitMs = 5_000;

interface Waiter {
  /** Resolves when the view is at this revision or beyond. */
  readonly revision: number;
  wake(): void;
}

/** Keeps a view in step with the ledger, and reports when the view is new enough. */
export class Follower {
  #view = new View();
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #waiting = new Set<Waiter>();
  #asking: Timer | undefined;
  #loaded = false;
  #connected = false;
  readonly #putBack = new PutBackNotice();
  /** The next load may have any revision. */
  #startsOver = false;
  /** The barrier that has not started yet: new callers may share it. */
  #nextBarrier: Promise<number> | undefined;
  readonly #barriers = new SerialQueue();

  constructor(ledger: Ledger, clock: Clock, log: Log) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#log = log;
  }

  /** Don't keep it across an await: a reload replaces the view. */
  get view(): View {
    return this.#view;
  }

  /** Whether the view is loaded and the watch is running. */
  get connected(): boolean {
    return this.#loaded && this.#connected && this.isUsable;
  }

  /** Why the view is of a store that was put back or replaced since; undefined if it is not. */
  get putBack(): PutBack | undefined {
    return this.#putBack.error;
  }

  /** Whether decisions on the view count. They don't after the store was put back, until the next load. */
  get isUsable(): boolean {
    return this.putBack === undefined && !this.#startsOver;
  }

  /** Rejects when the store was put back or replaced. */
  untilPutBack(signal: AbortSignal): Promise<void> {
    return this.#putBack.until(signal);
  }

  /** The next run loads the ledger as after a start. A store that was put back is accepted. */
  startOver(): void {
    this.#startsOver ||= this.putBack !== undefined;
    this.#putBack.clear();
    this.#loaded = false;
    this.#connected = false;
  }

  /** Follows until the signal fires. Rejects if the ledger is not the same one as before, or on a defect. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (!this.#loaded) await this.#load(signal);
        this.#askLater();
        for await (const batch of this.#ledger.watch(stateRoot, this.view.revision, signal)) {
          this.#connected = true;
          this.view.apply(batch);
          this.#notify();
        }
      } catch (error) {
        if (signal.aborted) break;
        const known = this.#putBack.note(error);
        this.#connected = false;
        if (known.code === 'internal') throw known;
        if (known.code === 'gone') this.#loaded = false;
        this.#log.warn({ error: known.message, code: known.code }, 'reloading the ledger');
        await sleep(this.#clock, retryMs, signal).catch(() => undefined);
      }
    }
    this.#asking?.cancel();
  }

  /**
   * Loads into a new view, in slices, so that a large ledger blocks no other work. The new view then replaces
   * the old one.
   */
  async #load(signal: AbortSignal): Promise<void> {
    const { revision, entries } = await this.#ledger.load(stateRoot, signal);
    this.#refuseThePast(revision, this.#seen);
    const view = new View();
    // Sites come first, so that addresses find their pools directly instead of being sorted into them at the
    // end.
    const isSite = ({ key }: Entry) => partsOfKey(key).kind === 'site';
    view.fill(entries.filter(isSite));
    const rest = entries.filter((entry) => !isSite(entry));
    for (let first = 0; first < rest.length && !signal.aborted; first += sliceSize) {
      view.fill(rest.slice(first, first + sliceSize));
      await nextTurn();
    }
    if (signal.aborted) throw abortedBy(signal);
    view.filled(revision);
    this.#view = view;
    this.#startsOver = false;
    this.#loaded = true;
    this.#connected = true;
    this.#notify();
  }

  /** Waits until the view has every transaction that was acknowledged before the call. */
  async barrier(signal: AbortSignal): Promise<void> {
    if (this.#nextBarrier === undefined) {
      this.#nextBarrier = this.#barriers.run(() => {
        this.#nextBarrier = undefined;
        const seen = this.#seen;
        // Many callers share the barrier, so it has its own deadline.
        return withDeadline(this.#clock, barrierLimitMs, undefined, 'the ledger', (limit) =>
          this.#ledger.barrier(limit).then((revision) => {
            this.#refuseThePast(revision, seen);
            return revision;
          }),
        );
      });
    }
    const revision = await this.#nextBarrier.catch((error: unknown) => {
      throw this.#putBack.note(error);
    });
    if (this.view.revision < revision) this.#ledger.requestProgress();
    await this.reached(revision, signal);
  }

  /** Waits until the view is at this revision or beyond. */
  async reached(revision: number, signal: AbortSignal): Promise<void> {
    if (this.#loaded && this.view.revision >= revision) return;
    this.#askLater();
    await this.#wait(signal, revision);
  }

  /**
   * A watch without changes reports its revision only on request. The follower requests it repeatedly while a
   * caller waits, and after a restart of the watch: without changes, nothing else shows that the watch is up.
   */
  #askLater(): void {
    this.#asking ??= this.#clock.timer(progressEveryMs, () => {
      this.#asking = undefined;
      if (this.#waiting.size === 0 && this.#connected) return;
      this.#ledger.requestProgress();
      this.#askLater();
    });
  }

  /** Waits until the view changes. */
  changed(signal: AbortSignal): Promise<void> {
    return this.#wait(signal, 0);
  }

  #wait(signal: AbortSignal, revision: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortedBy(signal));
        return;
      }
      const waiter: Waiter = {
        revision,
        wake: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = () => {
        this.#waiting.delete(waiter);
        reject(abortedBy(signal));
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #notify(): void {
    const { revision } = this.view;
    for (const waiter of this.#waiting) {
      if (waiter.revision > revision) continue;
      this.#waiting.delete(waiter);
      waiter.wake();
    }
  }

  get #seen(): number {
    return this.#startsOver ? 0 : this.#view.revision;
  }

  #refuseThePast(revision: number, seen: number): void {
    if (revision >= seen) return;
    throw new PutBack(
      `the ledger is at revision ${revision}, but ${seen} was seen before: it was put back to an earlier state`,
    );
  }
}

export function isTransient(error: unknown): boolean {
  return isErrorCode(error, 'unavailable') || isErrorCode(error, 'timeout');
}
