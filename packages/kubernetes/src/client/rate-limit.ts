import { sleep, type Clock } from '@causeway/base/time/clock';

export interface RateLimitOptions {
  readonly perSecond: number;
  /** Number of immediate requests after a pause. */
  readonly burst: number;
}

/** A token bucket: a constant rate, with bursts after a pause. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #clock: Clock;
  #tokens: number;
  #at: number;

  constructor(options: RateLimitOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#tokens = options.burst;
    this.#at = clock.monotonic();
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Waits for a token, in order of arrival: each caller takes its token immediately, on credit. */
  async take(signal: AbortSignal): Promise<void> {
    this.#refill();
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await sleep(this.#clock, (-this.#tokens / this.#options.perSecond) * 1000, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }

  /** No token is missing, so deleting this bucket changes nothing. */
  get isFull(): boolean {
    this.#refill();
    return this.#tokens >= this.#options.burst;
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    const gained = ((now - this.#at) / 1000) * this.#options.perSecond;
    this.#tokens = Math.min(this.#options.burst, this.#tokens + gained);
    this.#at = now;
  }
}
