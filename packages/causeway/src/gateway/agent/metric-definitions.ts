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
    help: 'Duration of an apply, from the parsed request to the accepted configuration on disk.',
    labels: ['outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  frontends: {
    kind: 'gauge',
    name: 'causeway_agent_frontends',
    help: 'Number of served frontends (address, protocol, port).',
    labels: [],
  },
  kept: {
    kind: 'gauge',
    name: 'causeway_agent_frontends_kept',
    help: 'Number of frontends that are served from an older generation because their newest record is invalid.',
    labels: [],
  },
  withheld: {
    kind: 'gauge',
    name: 'causeway_agent_removals_withheld',
    help: 'Number of frontends that are still served because their removal waits for a confirmation.',
    labels: [],
  },
  commits: {
    kind: 'counter',
    name: 'causeway_agent_ruleset_commits_total',
    help: 'Number of applies that wrote to the kernel.',
    labels: [],
  },
  refused: {
    kind: 'counter',
    name: 'causeway_agent_requests_refused_total',
    help: 'Rejected requests, which changed nothing, by API and reason.',
    labels: ['api', 'reason'],
  },
  setAside: {
    kind: 'gauge',
    name: 'causeway_agent_v1_records_set_aside',
    help: 'Number of records of the newest `/v1` request that are set aside because they cannot be served.',
    labels: [],
  },
  unhealthy: {
    kind: 'gauge',
    name: 'causeway_agent_unhealthy_backends',
    help: 'Backends and nodes that do not answer and get no new connections.',
    labels: [],
  },
  led: {
    kind: 'gauge',
    name: 'causeway_agent_led',
    help: '1 while a controller is connected and sends the unhealthy backends; without one, the agent uses only its own probes.',
    labels: [],
  },
  elements: {
    kind: 'gauge',
    name: 'causeway_agent_ruleset_elements',
    help: "Number of elements in the agent's nftables table.",
    labels: [],
  },
  connections: {
    kind: 'gauge',
    name: 'causeway_agent_connections',
    help: 'Number of connections that the kernel tracks.',
    labels: [],
  },
  connectionFill: {
    kind: 'gauge',
    name: 'causeway_agent_connection_table_fill_ratio',
    help: "Fill ratio of the kernel's connection table, from 0 to 1.",
    labels: [],
  },
  pins: {
    kind: 'gauge',
    name: 'causeway_agent_pins',
    help: 'Running connections with a fixed backend, because their slot has moved.',
    labels: [],
  },
  degraded: {
    kind: 'gauge',
    name: 'causeway_agent_degraded',
    help: '1 while the kernel may differ from the accepted configuration.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;
