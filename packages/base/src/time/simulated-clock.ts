import type { Clock, Timer } from './clock.ts';
import { DelayHeap } from './delay-heap.ts';

interface SimulatedTimer extends Timer {
  isCancelled: boolean;
  fire(): void;
}

/** A clock that stands still until a test advances it. Timers fire in order of time, then of creation. */
export class SimulatedClock implements Clock {
  readonly #timers = new DelayHeap<SimulatedTimer>();
  readonly #epochMs: number;
  #pending = 0;
  #now = 0;

  constructor(epochMs = Date.UTC(2026, 0, 1)) {
    this.#epochMs = epochMs;
  }

  wallTime(): number {
    // Whole milliseconds, like the system's clock.
    return this.#epochMs + Math.floor(this.#now);
  }

  monotonic(): number {
    return this.#now;
  }

  timer(delayMs: number, callback: () => void): Timer {
    const timer: SimulatedTimer = {
      isCancelled: false,
      fire: callback,
      cancel: () => {
        if (timer.isCancelled) return;
        timer.isCancelled = true;
        this.#pending -= 1;
      },
    };
    this.#pending += 1;
    this.#timers.push(this.#now + Math.max(delayMs, 0), timer);
    return timer;
  }

  /** The number of timers that neither fired nor were canceled. A test that ends with some has a leak. */
  get pendingTimers(): number {
    return this.#pending;
  }

  /** Advances to the next timer and fires it. Returns false if there is none. */
  fireNext(): boolean {
    for (;;) {
      const next = this.#timers.popDue(Number.POSITIVE_INFINITY);
      if (next === undefined) return false;
      if (next.value.isCancelled) continue;
      this.#now = Math.max(this.#now, next.time);
      this.#fire(next.value);
      return true;
    }
  }

  /** Advances the time. Fires every timer on the way and lets the work it starts run before the next. */
  async advance(byMs: number): Promise<void> {
    const end = this.#now + byMs;
    await settled();
    for (let next = this.#timers.popDue(end); next !== undefined; next = this.#timers.popDue(end)) {
      if (next.value.isCancelled) continue;
      this.#now = Math.max(this.#now, next.time);
      this.#fire(next.value);
      await settled();
    }
    this.#now = end;
  }

  #fire(timer: SimulatedTimer): void {
    timer.isCancelled = true;
    this.#pending -= 1;
    timer.fire();
  }
}

/** Resolves when all promises that can proceed without outside help have done so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
