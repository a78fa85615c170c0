import type { Gauge, MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import { healthStates } from '../../health/state.ts';
import type { ServiceRow } from './rows.ts';

export const healthMetrics = {
  services: {
    kind: 'gauge',
    name: 'causeway_services',
    help: 'Services by what their clients get, and by the most important cause. Each replica with a dashboard counts all Services.',
    labels: ['state', 'cause'],
  },
} as const satisfies Record<string, MetricDefinition>;

/** Counts Services by state and cause. */
export class ServiceCounts {
  readonly #gauge: Gauge<'state' | 'cause'>;
  #shown: ReadonlyMap<string, { readonly state: string; readonly cause: string }> = new Map();

  constructor(metrics: Metrics) {
    this.#gauge = metrics.gauge(healthMetrics.services);
  }

  /** A state without Services is 0, so that an alert ends. */
  show(rows: Iterable<Pick<ServiceRow, 'state' | 'reason'>>): void {
    const counts = new Map<string, { state: string; cause: string; count: number }>();
    for (const state of healthStates) counts.set(`${state} `, { state, cause: '', count: 0 });
    for (const { state, reason } of rows) {
      const key = `${state} ${reason}`;
      const { count } = counts.get(key) ?? { count: 0 };
      counts.set(key, { state, cause: reason, count: count + 1 });
    }
    for (const [key, labels] of this.#shown) if (!counts.has(key)) this.#gauge.remove(labels);
    for (const { state, cause, count } of counts.values()) this.#gauge.set({ state, cause }, count);
    this.#shown = new Map(
      [...counts].map(([key, { state, cause }]) => [key, { state, cause }] as const),
    );
  }
}
