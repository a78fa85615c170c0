import type { Clock } from '@causeway/base/time/clock';

export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Above this number, the least recently seen callers are dropped, so that memory stays bounded. */
const mostBuckets = 10_000;

/** A token bucket for each caller. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Takes a token, or returns the number of seconds until one is available. */
  take(caller: string): { allowed: true } | { allowed: false; retryAfter: number } {
    const { perSecond, burst } = this.#limit;
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(caller) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
    this.#buckets.delete(caller);
    this.#buckets.set(caller, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
    if (this.#buckets.size > mostBuckets) {
      for (const [oldest] of this.#buckets) {
        this.#buckets.delete(oldest);
        break;
      }
    }
    if (tokens >= 1) return { allowed: true };
    return { allowed: false, retryAfter: Math.ceil((1 - tokens) / perSecond) };
  }
}
