import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';

const duration: MetricDefinition<never> = {
  kind: 'histogram',
  name: 'causeway_ipam_change_duration_seconds',
  help: 'Time that reservations, releases and other changes took, from the request to the commit.',
  labels: [],
  buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15],
};
const conflicts: MetricDefinition<never> = {
  kind: 'counter',
  name: 'causeway_ipam_conflicts_total',
  help: 'Transactions that the ledger refused because another transaction committed first; they were decided again.',
  labels: [],
};
const ambiguous: MetricDefinition<never> = {
  kind: 'counter',
  name: 'causeway_ipam_ambiguous_commits_total',
  help: 'Transactions without a reported outcome of the ledger; they were decided again.',
  labels: [],
};
const refusals: MetricDefinition<'reason'> = {
  kind: 'counter',
  name: 'causeway_ipam_refusals_total',
  help: 'Requests refused, by reason; pool-exhausted and quota need an operator.',
  labels: ['reason'],
};

export const sessionMetrics = {
  writable: {
    kind: 'gauge',
    name: 'causeway_ipam_ledger_writable',
    help: '1 if the ledger accepts writes, 0 if it rejects them, for example because its space is used up.',
    labels: [],
  },
  putBacks: {
    kind: 'counter',
    name: 'causeway_ipam_ledger_put_back_total',
    help: 'How often this server found that the ledger was put back to an earlier state, and marked its sites as recovering.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

export const allocatorMetricDefinitions: readonly MetricDefinition[] = [
  duration,
  conflicts,
  ambiguous,
  refusals,
  ...Object.values(sessionMetrics),
];

export function allocatorMetrics(metrics: Metrics) {
  return {
    duration: metrics.histogram(duration),
    conflicts: metrics.counter(conflicts),
    ambiguous: metrics.counter(ambiguous),
    refusals: metrics.counter(refusals),
  };
}
