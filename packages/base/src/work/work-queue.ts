import { backoffDelay, controllerBackoff, type BackoffPolicy } from '../time/backoff.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { DelayHeap } from '../time/delay-heap.ts';
import { Fifo } from './fifo.ts';
import { systemRandom, type Random } from '../simulation/random.ts';

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly backoff?: BackoffPolicy;
  readonly random?: Random;
}

/**
 * A queue of keys with client-go's semantics:
 *
 * - a key that is added twice before its processing is handed out once;
 * - a key is never handed out while it is processed: if it is added during this time, it waits for `done` and
 *   goes to the end of the queue;
 * - keys are handed out in the order they were added;
 * - delayed adds keep the earliest time, and failures back off for each key separately.
 *
 * Unlike in client-go, a key that is handed out loses its delayed add: the processing that starts now decides
 * whether and when the key returns.
 */
export class WorkQueue<Key> {
  readonly #clock: Clock;
  readonly #backoff: BackoffPolicy;
  readonly #random: Random;
  readonly #queue = new Fifo<Key>();
  /** Keys that need processing: queued, or added while being processed. */
  readonly #dirty = new Set<Key>();
  readonly #processing = new Set<Key>();
  readonly #failures = new Map<Key, number>();
  readonly #delayed = new DelayHeap<Key>();
  readonly #delayedUntil = new Map<Key, number>();
  readonly #takers = new Fifo<(key: Key | undefined) => void>();
  #drained: (() => void)[] = [];
  #timer: { readonly due: number; readonly timer: Timer } | undefined;
  #isShutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#backoff = options.backoff ?? controllerBackoff;
    this.#random = options.random ?? systemRandom;
  }

  /** The number of keys that wait to be handed out, without those being processed or delayed. */
  get depth(): number {
    return this.#queue.size;
  }

  add(key: Key): void {
    if (this.#isShutDown || this.#dirty.has(key)) return;
    this.#dirty.add(key);
    if (this.#processing.has(key)) return;
    this.#queue.push(key);
    if (this.#takers.size > 0) this.#handOut();
  }

  addAfter(key: Key, delayMs: number): void {
    if (this.#isShutDown) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const due = this.#clock.monotonic() + delayMs;
    const planned = this.#delayedUntil.get(key);
    if (planned !== undefined && planned <= due) return;
    this.#delayedUntil.set(key, due);
    this.#delayed.push(due, key);
    this.#armTimer();
  }

  /** Adds the key after its own backoff, which grows with each call until `forget`. */
  addAfterFailure(key: Key): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    const delay = backoffDelay(this.#backoff, failures, this.#random);
    this.addAfter(key, delay);
    return delay;
  }

  forget(key: Key): void {
    this.#failures.delete(key);
  }

  failures(key: Key): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The next key, or undefined at once if none waits. Every taken key must be passed to `done`. */
  tryTake(): Key | undefined {
    const key = this.#queue.shift();
    if (key === undefined) return undefined;
    this.#processing.add(key);
    this.#dirty.delete(key);
    this.#delayedUntil.delete(key);
    return key;
  }

  /** Waits for the next key. Undefined means that the queue is shut down and empty. */
  take(): Promise<Key | undefined> {
    const key = this.tryTake();
    if (key !== undefined || this.#isShutDown) return Promise.resolve(key);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  done(key: Key): void {
    this.#processing.delete(key);
    if (this.#dirty.has(key)) {
      this.#queue.push(key);
      this.#handOut();
    }
    if (this.#processing.size === 0 && this.#queue.size === 0) this.#resolveDrained();
  }

  /** Accepts no more keys. Queued keys are still handed out; delayed keys are dropped. */
  shutDown(): void {
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    this.#delayedUntil.clear();
    for (let taker = this.#takers.shift(); taker !== undefined; taker = this.#takers.shift()) {
      taker(undefined);
    }
  }

  /** Resolves when no key is queued or processed. */
  whenDrained(): Promise<void> {
    if (this.#processing.size === 0 && this.#queue.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #handOut(): void {
    while (this.#takers.size > 0 && this.#queue.size > 0) {
      const key = this.tryTake();
      const taker = this.#takers.shift();
      taker?.(key);
    }
  }

  #resolveDrained(): void {
    const waiting = this.#drained;
    if (waiting.length === 0) return;
    this.#drained = [];
    for (const resolve of waiting) resolve();
  }

  #armTimer(): void {
    const due = this.#delayed.nextTime();
    if (due === undefined) return;
    if (this.#timer !== undefined) {
      if (this.#timer.due <= due) return;
      this.#timer.timer.cancel();
    }
    const delay = Math.max(due - this.#clock.monotonic(), 0);
    this.#timer = { due, timer: this.#clock.timer(delay, () => this.#releaseDue()) };
  }

  #releaseDue(): void {
    this.#timer = undefined;
    // A platform timer can fire a fraction of a millisecond early. Such an entry is still due.
    const now = this.#clock.monotonic() + 1;
    for (
      let next = this.#delayed.popDue(now);
      next !== undefined;
      next = this.#delayed.popDue(now)
    ) {
      // An entry is stale after an earlier time was requested, and after the key was handed out.
      if (this.#delayedUntil.get(next.value) !== next.time) continue;
      this.#delayedUntil.delete(next.value);
      this.add(next.value);
    }
    this.#armTimer();
  }
}
