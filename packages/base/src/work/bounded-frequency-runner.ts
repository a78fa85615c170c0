import { CausewayError } from '../error/causeway-error.ts';
import type { Clock } from '../time/clock.ts';
import type { Log } from '../observability/log.ts';

export interface BoundedFrequencyOptions {
  readonly name: string;
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** The average minimum time between the starts of two runs. */
  readonly minIntervalMs: number;
  /** The number of runs without delay after an idle time. At least 1. */
  readonly burst: number;
  /** The maximum time between two runs, also without requests. */
  readonly maxIntervalMs: number;
  /** The delay before the next attempt after a failure. */
  readonly retryMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Runs a function on request, but at most at a given frequency, and at least at a given interval without
 * requests. Runs never overlap. A request during a run leads to another run.
 */
export class BoundedFrequencyRunner {
  readonly #options: BoundedFrequencyOptions;
  #isRequested = false;
  /** The end of the runs so far if each took `minIntervalMs`. */
  #paceEnd = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;

  constructor(options: BoundedFrequencyOptions) {
    this.#options = options;
  }

  /** Requests a run as soon as the frequency allows. */
  request(): void {
    this.#isRequested = true;
    this.#wake?.();
  }

  async loop(signal: AbortSignal): Promise<void> {
    const { clock, maxIntervalMs, retryMs } = this.#options;
    let nextForced = clock.monotonic() + maxIntervalMs;
    const onAbort = () => this.#wake?.();
    signal.addEventListener('abort', onAbort, { once: true });
    while (!signal.aborted) {
      const now = clock.monotonic();
      const allowed = this.#allowedFrom();
      const due = this.#isRequested ? allowed : Math.max(nextForced, allowed);
      if (due > now) {
        await this.#sleepUntil(due);
        continue;
      }
      this.#spendTurn(now);
      this.#isRequested = false;
      const succeeded = await this.#runOnce(signal);
      nextForced =
        clock.monotonic() + (succeeded ? maxIntervalMs : Math.min(retryMs, maxIntervalMs));
    }
    signal.removeEventListener('abort', onAbort);
  }

  async #runOnce(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.run(signal);
      return true;
    } catch (error) {
      const failure = CausewayError.from(error);
      if (!signal.aborted) {
        this.#options.log.error({ error: failure, runner: this.#options.name }, 'run failed');
      }
      return false;
    }
  }

  /** When the next run may start: up to `burst` runs may be ahead of the steady frequency. */
  #allowedFrom(): number {
    const { minIntervalMs, burst } = this.#options;
    return this.#paceEnd - (burst - 1) * minIntervalMs;
  }

  #spendTurn(now: number): void {
    this.#paceEnd = Math.max(this.#paceEnd, now) + this.#options.minIntervalMs;
  }

  #sleepUntil(due: number): Promise<void> {
    return new Promise((resolve) => {
      const delay = due - this.#options.clock.monotonic();
      const timer = this.#options.clock.timer(Math.max(delay, 0), () => this.#wake?.());
      this.#wake = () => {
        timer.cancel();
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
