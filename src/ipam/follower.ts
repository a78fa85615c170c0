import { CausewayError, isErrorCode } from '../domain/error.ts';
import { abortedBy, sleep, type Clock } from '../runtime/clock.ts';
import { withDeadline } from '../runtime/deadline.ts';
import type { Log } from '../runtime/log.ts';
import { stateRoot } from './keys.ts';
import type { Ledger } from './ledger.ts';
import { View } from './view.ts';

const retryMs = 200;
/** How often an answer is asked for from a watch that has nothing to tell. */
const progressEveryMs = 50;
const barrierLimitMs = 5_000;

/** Keeps a view in step with the ledger, and says when it is new enough. */
export class Follower {
  readonly view = new View();
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #waiting = new Set<() => void>();
  #loaded = false;
  #connected = false;
  /** The barrier that has not begun yet: whoever asks now may share it. */
  #nextBarrier: Promise<number> | undefined;
  #runningBarrier: Promise<unknown> = Promise.resolve();

  constructor(ledger: Ledger, clock: Clock, log: Log) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether the view has been loaded and the watch is up. */
  get connected(): boolean {
    return this.#loaded && this.#connected;
  }

  /** Follows until the signal fires. Rejects only if the ledger can't be the one it was. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (!this.#loaded) await this.#load(signal);
        for await (const batch of this.#ledger.watch(stateRoot, this.view.revision, signal)) {
          this.#connected = true;
          this.view.apply(batch);
          this.#notify();
        }
      } catch (error) {
        if (signal.aborted) return;
        const known = CausewayError.from(error);
        if (known.code === 'internal') throw known;
        this.#connected = false;
        if (known.code === 'gone') this.#loaded = false;
        this.#log.warn({ error: known.message, code: known.code }, 'following the ledger anew');
        await sleep(this.#clock, retryMs, signal).catch(() => undefined);
      }
    }
  }

  async #load(signal: AbortSignal): Promise<void> {
    const snapshot = await this.#ledger.load(stateRoot, signal);
    this.#refuseThePast(snapshot.revision, this.view.revision);
    this.view.reset(snapshot);
    this.#loaded = true;
    this.#connected = true;
    this.#notify();
  }

  /** Waits until the view has seen everything that was acknowledged anywhere before the call. */
  async barrier(signal: AbortSignal): Promise<void> {
    if (this.#nextBarrier === undefined) {
      const previous = this.#runningBarrier;
      const mine = previous.then(() => {
        this.#nextBarrier = undefined;
        const seen = this.view.revision;
        // Shared by many callers, so it lives by its own deadline and not by one of theirs.
        return withDeadline(this.#clock, barrierLimitMs, undefined, 'the ledger', (limit) =>
          this.#ledger.barrier(limit).then((revision) => {
            this.#refuseThePast(revision, seen);
            return revision;
          }),
        );
      });
      this.#nextBarrier = mine;
      this.#runningBarrier = mine.catch(() => undefined);
    }
    await this.reached(await this.#nextBarrier, signal);
  }

  /** Waits until the view is at this revision or beyond. */
  async reached(revision: number, signal: AbortSignal): Promise<void> {
    if (this.#loaded && this.view.revision >= revision) return;
    // Asked for again and again: a watch that is still catching up doesn't answer.
    const ask = () => {
      this.#ledger.requestProgress();
      return this.#clock.timer(progressEveryMs, () => (timer = ask()));
    };
    let timer = ask();
    try {
      while (!this.#loaded || this.view.revision < revision) await this.changed(signal);
    } finally {
      timer.cancel();
    }
  }

  /** Waits until the view changes. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortedBy(signal));
        return;
      }
      const settle = () => {
        this.#waiting.delete(settle);
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        this.#waiting.delete(settle);
        reject(abortedBy(signal));
      };
      this.#waiting.add(settle);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #notify(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #refuseThePast(revision: number, seen: number): void {
    if (revision >= seen) return;
    throw new CausewayError(
      'internal',
      `the ledger is at revision ${revision}, but ${seen} was seen before: it was put back to an earlier state`,
      { hint: 'Run "causeway ipam recover" on the ledger before serving from it again.' },
    );
  }
}

export function isTransient(error: unknown): boolean {
  return isErrorCode(error, 'unavailable') || isErrorCode(error, 'timeout');
}
