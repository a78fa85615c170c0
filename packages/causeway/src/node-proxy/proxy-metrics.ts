import type { MetricDefinition } from '@causeway/base/observability/metrics';

const durations = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export const proxyMetrics = {
  syncSeconds: {
    kind: 'histogram',
    name: 'causeway_proxy_sync_duration_seconds',
    help: 'How long a transaction took, by whether all rules or only changes were looked at.',
    labels: ['scope'],
    buckets: durations,
  },
  syncFailures: {
    kind: 'counter',
    name: 'causeway_proxy_sync_failures_total',
    help: 'Transactions that were refused.',
    labels: [],
  },
  programmingSeconds: {
    kind: 'histogram',
    name: 'causeway_proxy_programming_duration_seconds',
    help: 'From the change of a pod or Service that the control plane noted to the rules on this node.',
    labels: [],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 120],
  },
  lastSync: {
    kind: 'gauge',
    name: 'causeway_proxy_last_sync_timestamp_seconds',
    help: 'When the rules last were as wanted, in seconds since 1970.',
    labels: [],
  },
  services: {
    kind: 'gauge',
    name: 'causeway_proxy_services',
    help: 'Services that this node serves.',
    labels: [],
  },
  diverted: {
    kind: 'gauge',
    name: 'causeway_proxy_diverted_services',
    help: 'Services whose connections are held because they are idle.',
    labels: [],
  },
  lostTargets: {
    kind: 'counter',
    name: 'causeway_proxy_lost_addresses_total',
    help: 'Addresses that a Service asked for and another one has.',
    labels: [],
  },
  refusedServices: {
    kind: 'gauge',
    name: 'causeway_proxy_refused_services',
    help: 'Services that this node does not serve because they are larger than the budget for a Service.',
    labels: [],
  },
  staleConnections: {
    kind: 'counter',
    name: 'causeway_proxy_stale_connections_total',
    help: 'UDP flows that were forgotten because they led nowhere.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

/** Every metric of the proxy, for the metrics reference. */
export const proxyMetricDefinitions: readonly MetricDefinition[] = Object.values(proxyMetrics);
