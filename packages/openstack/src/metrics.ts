import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';

const requestsMetric = {
  kind: 'counter',
  name: 'causeway_openstack_requests_total',
  help: 'Requests to OpenStack. The status is the HTTP status, or "none" when no answer came.',
  labels: ['service', 'method', 'route', 'status'],
} as const satisfies MetricDefinition;

const durationMetric = {
  kind: 'histogram',
  name: 'causeway_openstack_request_duration_seconds',
  help: 'Time from the request to the end of its answer, without the wait for a free slot.',
  labels: ['service', 'method', 'route'],
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
} as const satisfies MetricDefinition;

const retriesMetric = {
  kind: 'counter',
  name: 'causeway_openstack_retries_total',
  help: 'Requests to OpenStack that were repeated, by what had gone wrong: connection, rate-limit, gateway, token.',
  labels: ['service', 'reason'],
} as const satisfies MetricDefinition;

const tokensMetric = {
  kind: 'counter',
  name: 'causeway_openstack_tokens_total',
  help: 'Tokens asked of Keystone, by outcome: issued, invalid-credentials, failed.',
  labels: ['outcome'],
} as const satisfies MetricDefinition;

export const openStackMetricDefinitions: readonly MetricDefinition[] = [
  requestsMetric,
  durationMetric,
  retriesMetric,
  tokensMetric,
];

export function openStackMetrics(metrics: Metrics) {
  return {
    requests: metrics.counter(requestsMetric),
    duration: metrics.histogram(durationMetric),
    retries: metrics.counter(retriesMetric),
    tokens: metrics.counter(tokensMetric),
  };
}

export type OpenStackMetrics = ReturnType<typeof openStackMetrics>;
