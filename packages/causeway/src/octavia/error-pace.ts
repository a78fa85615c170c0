import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import type { Clock } from '@causeway/base/time/clock';
import type { Random } from '@causeway/base/simulation/random';

const policy: BackoffPolicy = { baseMs: 5_000, maxMs: 300_000, jitter: 0.2 };

/** How soon a load balancer that ended in ERROR is made anew: later each time. */
export class ErrorPace {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #failures = new Map<string, { readonly count: number; readonly notBefore: number }>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Answers how many times by now. */
  failed(uid: string): number {
    const count = (this.#failures.get(uid)?.count ?? 0) + 1;
    const notBefore = this.#clock.monotonic() + backoffDelay(policy, count, this.#random);
    this.#failures.set(uid, { count, notBefore });
    return count;
  }

  /** Not above zero: now. */
  restMs(uid: string): number {
    return (this.#failures.get(uid)?.notBefore ?? 0) - this.#clock.monotonic();
  }

  forget(uid: string): void {
    this.#failures.delete(uid);
  }
}
