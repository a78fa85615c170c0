import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { CausewayError } from '../error/causeway-error.ts';
import type { Labels, MetricDefinition, Metrics } from './metrics.ts';

/** Metrics for Prometheus. The same definition always returns handles on the same metric. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #definitions = new Map<string, MetricDefinition>();

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in the Prometheus text format. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  counter<Label extends string>(definition: MetricDefinition<Label>) {
    const metric = this.#declare(
      definition,
      Counter<Label>,
      () => new Counter(this.#config(definition)),
    );
    return { add: (labels: Labels<Label>, amount = 1) => metric.inc(labels, amount) };
  }

  gauge<Label extends string>(definition: MetricDefinition<Label>) {
    const metric = this.#declare(
      definition,
      Gauge<Label>,
      () => new Gauge(this.#config(definition)),
    );
    return {
      set: (labels: Labels<Label>, value: number) => metric.set(labels, value),
      remove: (labels: Labels<Label>) => metric.remove(labels),
    };
  }

  histogram<Label extends string>(definition: MetricDefinition<Label>) {
    const metric = this.#declare(definition, Histogram<Label>, () => {
      const buckets = definition.buckets === undefined ? {} : { buckets: [...definition.buckets] };
      return new Histogram({ ...this.#config(definition), ...buckets });
    });
    return { observe: (labels: Labels<Label>, value: number) => metric.observe(labels, value) };
  }

  #config<Label extends string>(definition: MetricDefinition<Label>) {
    const { name, help, labels } = definition;
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }

  #declare<Label extends string, M extends object>(
    definition: MetricDefinition<Label>,
    type: abstract new (...args: never[]) => M,
    make: () => M,
  ): M {
    const known = this.#definitions.get(definition.name);
    if (known !== undefined && known !== definition) {
      throw new CausewayError('internal', `the metric ${definition.name} is defined twice`);
    }
    this.#definitions.set(definition.name, definition);
    const existing: unknown = this.#registry.getSingleMetric(definition.name);
    return existing instanceof type ? existing : make();
  }
}
