import type { Labels, MetricDefinition, Metrics } from './metrics.ts';

/**
 * Metrics of a part that may end before the process. `clear` removes its gauges: they would show the last
 * values of a part that no longer runs. Counters and histograms stay.
 */
export class ScopedMetrics implements Metrics {
  readonly #inner: Metrics;
  readonly #removals = new Map<string, () => void>();

  constructor(inner: Metrics) {
    this.#inner = inner;
  }

  counter<Label extends string>(definition: MetricDefinition<Label>) {
    return this.#inner.counter(definition);
  }

  histogram<Label extends string>(definition: MetricDefinition<Label>) {
    return this.#inner.histogram(definition);
  }

  gauge<Label extends string>(definition: MetricDefinition<Label>) {
    const gauge = this.#inner.gauge(definition);
    return {
      set: (labels: Labels<Label>, value: number) => {
        gauge.set(labels, value);
        const key = `${definition.name} ${JSON.stringify(labels)}`;
        if (!this.#removals.has(key)) this.#removals.set(key, () => gauge.remove(labels));
      },
      remove: (labels: Labels<Label>) => {
        gauge.remove(labels);
        this.#removals.delete(`${definition.name} ${JSON.stringify(labels)}`);
      },
    };
  }

  clear(): void {
    for (const remove of this.#removals.values()) remove();
    this.#removals.clear();
  }
}
