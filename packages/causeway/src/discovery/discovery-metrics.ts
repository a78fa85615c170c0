import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';

const cycles = {
  kind: 'counter',
  name: 'causeway_discovery_cycles_total',
  help: 'Cycles by outcome: complete, partial (a project failed), failed (nothing was read).',
  labels: ['backend', 'outcome'],
} as const satisfies MetricDefinition;

const duration = {
  kind: 'histogram',
  name: 'causeway_discovery_cycle_duration_seconds',
  help: 'Duration of a cycle.',
  labels: ['backend'],
  buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1800],
} as const satisfies MetricDefinition;

const lastSuccess = {
  kind: 'gauge',
  name: 'causeway_discovery_last_success_timestamp_seconds',
  help: 'End of the last cycle that could read the backend, even if single projects failed.',
  labels: ['backend'],
} as const satisfies MetricDefinition;

const up = {
  kind: 'gauge',
  name: 'causeway_discovery_backend_up',
  help: '0 while a backend is failed: its credentials were refused or its list of projects is missing.',
  labels: ['backend'],
} as const satisfies MetricDefinition;

const projects = {
  kind: 'gauge',
  name: 'causeway_discovery_projects',
  help: 'Projects in the last cycle: upstream, failed (could not be read), skipped (no namespace).',
  labels: ['backend', 'state'],
} as const satisfies MetricDefinition;

const loadBalancers = {
  kind: 'gauge',
  name: 'causeway_discovery_load_balancers',
  help: 'Load balancers in the last cycle: upstream, replicated (as Services), invalid (a part of them was refused).',
  labels: ['backend', 'state'],
} as const satisfies MetricDefinition;

const endpoints = {
  kind: 'gauge',
  name: 'causeway_discovery_endpoints',
  help: 'Endpoints in the last cycle: upstream (members behind listeners), replicated, invalid (refused), ready.',
  labels: ['backend', 'state'],
} as const satisfies MetricDefinition;

const held = {
  kind: 'gauge',
  name: 'causeway_discovery_held_load_balancers',
  help: 'Load balancers that seem to be lost and are kept until three cycles agree.',
  labels: ['backend'],
} as const satisfies MetricDefinition;

const writes = {
  kind: 'counter',
  name: 'causeway_discovery_writes_total',
  help: 'Objects created, updated and deleted in Kubernetes.',
  labels: ['backend', 'verb', 'resource'],
} as const satisfies MetricDefinition;

export const discoveryMetricDefinitions: readonly MetricDefinition[] = [
  cycles,
  duration,
  lastSuccess,
  up,
  projects,
  loadBalancers,
  endpoints,
  held,
  writes,
];

export function discoveryMetrics(metrics: Metrics) {
  return {
    cycles: metrics.counter(cycles),
    duration: metrics.histogram(duration),
    lastSuccess: metrics.gauge(lastSuccess),
    up: metrics.gauge(up),
    projects: metrics.gauge(projects),
    loadBalancers: metrics.gauge(loadBalancers),
    endpoints: metrics.gauge(endpoints),
    held: metrics.gauge(held),
    writes: metrics.counter(writes),
  };
}

export type DiscoveryMetrics = ReturnType<typeof discoveryMetrics>;
