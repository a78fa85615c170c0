import type { MetricDefinition } from '@causeway/base/observability/metrics';

export const requestDuration: MetricDefinition<'verb' | 'resource' | 'status'> = {
  kind: 'histogram',
  name: 'causeway_kube_request_duration_seconds',
  help: 'Time until the Kubernetes API answered, by verb, resource and HTTP status; status is "none" where no answer came.',
  labels: ['verb', 'resource', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
};

export const requestRetries: MetricDefinition<'verb' | 'resource'> = {
  kind: 'counter',
  name: 'causeway_kube_request_retries_total',
  help: 'Requests to the Kubernetes API that were sent again.',
  labels: ['verb', 'resource'],
};

export const watchRestarts: MetricDefinition<'resource' | 'reason'> = {
  kind: 'counter',
  name: 'causeway_kube_watch_restarts_total',
  help: 'Watches that ended and were started again, by the reason: "closed" is the normal end of a watch.',
  labels: ['resource', 'reason'],
};

export const storeObjects: MetricDefinition<'resource'> = {
  kind: 'gauge',
  name: 'causeway_kube_store_objects',
  help: 'Objects held in the store of a watched resource.',
  labels: ['resource'],
};

export const storeSynced: MetricDefinition<'resource'> = {
  kind: 'gauge',
  name: 'causeway_kube_store_synced',
  help: '1 while the store follows the Kubernetes API, 0 before its first load and while the watch is broken.',
  labels: ['resource'],
};

export const eventsRecorded: MetricDefinition<'outcome'> = {
  kind: 'counter',
  name: 'causeway_kube_events_total',
  help: 'Events about objects, by outcome: written, merged into an earlier one, dropped or failed.',
  labels: ['outcome'],
};

export const leading: MetricDefinition<'lease'> = {
  kind: 'gauge',
  name: 'causeway_leader',
  help: '1 while this process holds the lease.',
  labels: ['lease'],
};

export const clusterVerifiable: MetricDefinition = {
  kind: 'gauge',
  name: 'causeway_kube_cluster_verifiable',
  help: '1 while the process may read the namespace kube-system; with 0 it does not detect the API server of another cluster.',
  labels: [],
};

export const kubeMetrics = [
  requestDuration,
  requestRetries,
  watchRestarts,
  storeObjects,
  storeSynced,
  eventsRecorded,
  leading,
  clusterVerifiable,
];
