import type { Clock, Timer } from '@causeway/base/time/clock';

export interface DebounceOptions {
  readonly clock: Clock;
  /** No news for this long is calm. */
  readonly quietMs: number;
  /** Nobody waits longer than this for it. */
  readonly longestMs: number;
}

/**
 * Waits until what changes many times at once has calmed down: a rollout of a hundred pods is one write
 * to each pool, and not a hundred that lock the load balancer each.
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

  /** Whoever still waits is forgotten. */
  stop(): void {
    for (const { timer } of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
  }
}
