import type { MetricDefinition } from '@causeway/base/observability/metrics';

export const wakes = {
  kind: 'counter',
  name: 'causeway_idling_wakes_total',
  help: 'Services woken by a connection, by result.',
  labels: ['outcome'],
} as const satisfies MetricDefinition;

export const coldStart = {
  kind: 'histogram',
  name: 'causeway_idling_cold_start_seconds',
  help: 'From the first request for pods to the first ready endpoint.',
  labels: [],
  buckets: [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
} as const satisfies MetricDefinition;

export const sleeping = {
  kind: 'gauge',
  name: 'causeway_idling_services',
  help: 'Services that are idle, and those of them that are being woken.',
  labels: ['state'],
} as const satisfies MetricDefinition;

export const idlingMetricDefinitions: readonly MetricDefinition[] = [wakes, coldStart, sleeping];
