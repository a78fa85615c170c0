/**
 * Metrics as the rest of the code knows them. A module declares its metrics as data beside the code
 * that counts (the reference page and the dashboards are generated from those declarations) and
 * asks a Metrics for handles. `observe` implements it with prom-client; tests with nothing.
 */
export interface MetricDefinition<Label extends string = string> {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** With the prefix `causeway_` and a unit where there is one: `causeway_apply_duration_seconds`. */
  readonly name: string;
  readonly help: string;
  /** Only labels with a bounded set of values: never a name that a user or a cloud chose without limit. */
  readonly labels: readonly Label[];
  /** Upper bounds in seconds or bytes, for histograms. */
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
