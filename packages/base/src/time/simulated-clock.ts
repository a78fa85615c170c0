import type { Clock, Timer } from './clock.ts';
import { DelayHeap } from './delay-heap.ts';

interface SimulatedTimer extends Timer {
  isCancelled: boolean;
  fire(): void;
}

/** A clock that stands still until a test moves it. Timers fire in order of time, then of creation. */
export class SimulatedClock implements Clock {
  readonly #timers = new DelayHeap<SimulatedTimer>();
  readonly #epochMs: number;
  #pending = 0;
  #now = 0;

  constructor(epochMs = Date.UTC(2026, 0, 1)) {
    this.#epochMs = epochMs;
  }

  wallTime(): number {
    // Whole milliseconds, as the system's.
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

  /** Timers that are neither fired nor cancelled: a test that ends with some has a leak. */
  get pendingTimers(): number {
    return this.#pending;
  }

  /** Moves to the next timer and fires it. False when there is none. */
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

  /** Moves forward, firing every timer on the way and letting what it starts run on before the next. */
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

/** Answers when every promise that could go on without outside help has done so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
