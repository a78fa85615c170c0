import type { MetricDefinition } from '@causeway/base/observability/metrics';

const durations = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export const proxyMetrics = {
  syncSeconds: {
    kind: 'histogram',
    name: 'causeway_proxy_sync_duration_seconds',
    help: 'Duration of a transaction, by whether it compared all rules or only changes.',
    labels: ['scope'],
    buckets: durations,
  },
  syncFailures: {
    kind: 'counter',
    name: 'causeway_proxy_sync_failures_total',
    help: 'Transactions that failed.',
    labels: [],
  },
  programmingSeconds: {
    kind: 'histogram',
    name: 'causeway_proxy_programming_duration_seconds',
    help: 'Time from a change of a pod or Service, as noted by the control plane, to the rules on this node.',
    labels: [],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 120],
  },
  lastSync: {
    kind: 'gauge',
    name: 'causeway_proxy_last_sync_timestamp_seconds',
    help: 'Last time that the rules were up to date, in seconds since 1970.',
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
    help: 'Services with connections that are held because they are idle.',
    labels: [],
  },
  lostTargets: {
    kind: 'counter',
    name: 'causeway_proxy_lost_addresses_total',
    help: 'Addresses that a Service requested and another Service has.',
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
    help: 'Stale UDP conntrack entries that were deleted.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

/** Every metric of the proxy, for the metrics reference. */
export const proxyMetricDefinitions: readonly MetricDefinition[] = Object.values(proxyMetrics);
