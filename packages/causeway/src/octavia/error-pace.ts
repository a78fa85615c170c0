import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import type { Clock } from '@causeway/base/time/clock';
import type { Random } from '@causeway/base/simulation/random';

const policy: BackoffPolicy = { baseMs: 5_000, maxMs: 300_000, jitter: 0.2 };

/** Growing delays before a load balancer that ended in ERROR is created again. */
export class ErrorPace {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #failures = new Map<string, { readonly count: number; readonly notBefore: number }>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns the number of failures in a row. */
  failed(uid: string): number {
    const count = (this.#failures.get(uid)?.count ?? 0) + 1;
    const notBefore = this.#clock.monotonic() + backoffDelay(policy, count, this.#random);
    this.#failures.set(uid, { count, notBefore });
    return count;
  }

  /** Zero or less: now. */
  restMs(uid: string): number {
    return (this.#failures.get(uid)?.notBefore ?? 0) - this.#clock.monotonic();
  }

  drop(uid: string): void {
    this.#failures.delete(uid);
  }
}
