import type { MetricDefinition } from '@causeway/base/observability/metrics';

export const gatewayMetrics = {
  generation: {
    kind: 'gauge',
    name: 'causeway_agent_applied_generation',
    help: 'The newest generation that is accepted and applied.',
    labels: [],
  },
  duration: {
    kind: 'histogram',
    name: 'causeway_agent_apply_duration_seconds',
    help: 'How long an apply took, from the understood request to the accepted configuration on disk.',
    labels: ['outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  endpoints: {
    kind: 'gauge',
    name: 'causeway_agent_endpoints',
    help: 'How many endpoints (address, protocol, port) are served.',
    labels: [],
  },
  kept: {
    kind: 'gauge',
    name: 'causeway_agent_endpoints_kept',
    help: 'How many endpoints are served from an older generation because their newest record was bad.',
    labels: [],
  },
  withheld: {
    kind: 'gauge',
    name: 'causeway_agent_removals_withheld',
    help: 'How many frontends are still served because their removal waits for a confirmation.',
    labels: [],
  },
  commits: {
    kind: 'counter',
    name: 'causeway_agent_ruleset_commits_total',
    help: 'How often the kernel was written to by an apply.',
    labels: [],
  },
  refused: {
    kind: 'counter',
    name: 'causeway_agent_requests_refused_total',
    help: 'Requests that were refused and changed nothing, by API and reason.',
    labels: ['api', 'reason'],
  },
  unhealthy: {
    kind: 'gauge',
    name: 'causeway_agent_unhealthy_backends',
    help: 'Destinations and nodes that do not answer and get no new connections.',
    labels: [],
  },
  led: {
    kind: 'gauge',
    name: 'causeway_agent_led',
    help: '1 while a controller follows this agent and tells it who is silent; without one it goes on by itself.',
    labels: [],
  },
  elements: {
    kind: 'gauge',
    name: 'causeway_agent_ruleset_elements',
    help: 'How many elements our nftables table holds.',
    labels: [],
  },
  connections: {
    kind: 'gauge',
    name: 'causeway_agent_connections',
    help: 'How many connections the kernel tracks.',
    labels: [],
  },
  connectionFill: {
    kind: 'gauge',
    name: 'causeway_agent_connection_table_fill_ratio',
    help: "How full the kernel's table of connections is, from 0 to 1.",
    labels: [],
  },
  degraded: {
    kind: 'gauge',
    name: 'causeway_agent_degraded',
    help: '1 while the kernel may differ from the accepted configuration.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;
