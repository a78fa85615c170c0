import type { Clock, Timer } from '@causeway/base/time/clock';

export interface DebounceOptions {
  readonly clock: Clock;
  /** The time without a change after which the debounce ends. */
  readonly quietMs: number;
  /** The maximum delay. */
  readonly longestMs: number;
}

/**
 * Debounces many changes in a short time. A rollout of a hundred pods is one write to each pool, and not a
 * hundred writes that each lock the load balancer.
 */
export class Debounce {
  readonly #options: DebounceOptions;
  readonly #waiting = new Map<string, { readonly since: number; readonly timer: Timer }>();

  constructor(options: DebounceOptions) {
    this.#options = options;
  }

  after(key: string, act: () => void): void {
    const { clock, quietMs, longestMs } = this.#options;
    const waiting = this.#waiting.get(key);
    waiting?.timer.cancel();
    const now = clock.monotonic();
    const since = waiting?.since ?? now;
    const delayMs = Math.max(0, Math.min(quietMs, since + longestMs - now));
    const timer = clock.timer(delayMs, () => {
      this.#waiting.delete(key);
      act();
    });
    this.#waiting.set(key, { since, timer });
  }

  isWaiting(key: string): boolean {
    return this.#waiting.has(key);
  }

  /** Drops all waiting keys. */
  stop(): void {
    for (const { timer } of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
  }
}
