import { CausewayError } from '../error/causeway-error.ts';
import type { Clock } from '../time/clock.ts';
import type { Log } from '../observability/log.ts';

export interface BoundedFrequencyOptions {
  readonly name: string;
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** On average no two runs start closer together than this. */
  readonly minIntervalMs: number;
  /** So many runs may follow each other at once after a quiet time. At least 1. */
  readonly burst: number;
  /** Runs at least this often, also when nobody asks. */
  readonly maxIntervalMs: number;
  /** After a failure, tries again this much later. */
  readonly retryMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Runs a function when asked, but not too often; also when not asked, but not too seldom; never
 * twice at once. A request that comes during a run leads to another run.
 */
export class BoundedFrequencyRunner {
  readonly #options: BoundedFrequencyOptions;
  #isRequested = false;
  /** When the runs so far would end if each took `minIntervalMs`. */
  #paceEnd = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;

  constructor(options: BoundedFrequencyOptions) {
    this.#options = options;
  }

  /** Asks for a run as soon as the pace allows. */
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

  /** When the next run may start: `burst` of them may be ahead of a steady pace. */
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
