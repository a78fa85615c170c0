import type { MetricDefinition } from '../observability/metrics.ts';

export const queueDepth: MetricDefinition<'controller'> = {
  kind: 'gauge',
  name: 'causeway_queue_depth',
  help: 'Keys that wait to be reconciled.',
  labels: ['controller'],
};

export const reconcileDuration: MetricDefinition<'controller' | 'outcome'> = {
  kind: 'histogram',
  name: 'causeway_reconcile_duration_seconds',
  help: 'How long one reconciliation took, by how it ended.',
  labels: ['controller', 'outcome'],
  buckets: [0.001, 0.01, 0.1, 1, 10, 60],
};

export const reconcileRetries: MetricDefinition<'controller'> = {
  kind: 'counter',
  name: 'causeway_reconcile_retries_total',
  help: 'Reconciliations that failed and were put back with a delay.',
  labels: ['controller'],
};

export const controllerMetrics = [queueDepth, reconcileDuration, reconcileRetries];
