import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { Clock } from '@causeway/base/time/clock';
import type { Metrics } from '@causeway/base/observability/metrics';
import { proxyMetrics } from './proxy-metrics.ts';

const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Limit of triggers that are kept for measurement while rules can't be written. */
const mostTriggers = 10_000;

/** How far the rules are behind the known changes. */
export class ProxyProgress {
  readonly #clock: Clock;
  readonly #metrics;
  #lastDone: number | undefined;
  #waitingSince: number | undefined;
  #triggers: number[] = [];

  constructor(clock: Clock, metrics: Metrics) {
    this.#clock = clock;
    this.#metrics = {
      seconds: metrics.histogram(proxyMetrics.syncSeconds),
      failures: metrics.counter(proxyMetrics.syncFailures),
      programming: metrics.histogram(proxyMetrics.programmingSeconds),
      lastSync: metrics.gauge(proxyMetrics.lastSync),
    };
  }

  /**
   * Last time that the rules were up to date, in milliseconds since 1970; undefined before the first time.
   */
  get lastDone(): number | undefined {
    return this.#lastDone;
  }

  /** How long a change has been waiting to be written; 0 if none is waiting. */
  get waitingMs(): number {
    return this.#waitingSince === undefined ? 0 : this.#clock.monotonic() - this.#waitingSince;
  }

  changed(): void {
    this.#waitingSince ??= this.#clock.monotonic();
  }

  /**
   * The control plane notes the time of the change that a slice shows. Before the first rules, that time is
   * long ago.
   */
  noteTrigger(slice: EndpointSlice): void {
    const text = slice.metadata?.annotations?.[triggerAnnotation];
    if (text === undefined || this.#lastDone === undefined) return;
    const time = Date.parse(text);
    if (!Number.isNaN(time) && this.#triggers.length < mostTriggers) this.#triggers.push(time);
  }

  start(scope: 'all' | 'changes'): { done(): void; failed(): void } {
    const startedAt = this.#clock.monotonic();
    const waitingSince = this.#waitingSince;
    const triggers = this.#triggers;
    this.#waitingSince = undefined;
    this.#triggers = [];
    return {
      done: () => {
        const now = this.#clock.wallTime();
        this.#lastDone = now;
        this.#metrics.lastSync.set({}, now / 1000);
        this.#metrics.seconds.observe({ scope }, (this.#clock.monotonic() - startedAt) / 1000);
        for (const time of triggers) {
          this.#metrics.programming.observe({}, Math.max(now - time, 0) / 1000);
        }
      },
      failed: () => {
        this.#waitingSince = waitingSince ?? startedAt;
        this.#triggers.unshift(...triggers);
        this.#metrics.failures.add({});
      },
    };
  }
}
