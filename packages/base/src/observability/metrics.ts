/**
 * The metrics interface. A module declares its metrics as data beside the code that counts, and asks a
 * Metrics for handles. The reference page and the dashboards are generated from these declarations.
 * `PrometheusMetrics` implements it with prom-client; tests use `noMetrics`.
 */
export interface MetricDefinition<Label extends string = string> {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** With the prefix `causeway_` and, if applicable, a unit: `causeway_apply_duration_seconds`. */
  readonly name: string;
  readonly help: string;
  /** Labels must have a bounded set of values: never a name that a user or a cloud chooses without limit. */
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram, in seconds or bytes. */
  readonly buckets?: readonly number[];
}

export type Labels<Label extends string> = Readonly<Record<Label, string>>;

export interface Counter<Label extends string> {
  add(labels: Labels<Label>, amount?: number): void;
}

export interface Gauge<Label extends string> {
  set(labels: Labels<Label>, value: number): void;
  remove(labels: Labels<Label>): void;
}

export interface Histogram<Label extends string> {
  observe(labels: Labels<Label>, value: number): void;
}

export interface Metrics {
  counter<Label extends string>(definition: MetricDefinition<Label>): Counter<Label>;
  gauge<Label extends string>(definition: MetricDefinition<Label>): Gauge<Label>;
  histogram<Label extends string>(definition: MetricDefinition<Label>): Histogram<Label>;
}

export const noMetrics: Metrics = {
  counter: () => ({ add() {} }),
  gauge: () => ({ set() {}, remove() {} }),
  histogram: () => ({ observe() {} }),
};
