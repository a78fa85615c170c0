import type { MetricDefinition } from '@causeway/base/observability/metrics';

export const fleetMetrics = {
  reachable: {
    kind: 'gauge',
    name: 'causeway_gateway_reachable',
    help: '1 while the gateway answers and accepts updates.',
    labels: ['gateway'],
  },
  behind: {
    kind: 'gauge',
    name: 'causeway_gateway_behind',
    help: '1 while the gateway has not confirmed the newest generation.',
    labels: ['gateway'],
  },
  generation: {
    kind: 'gauge',
    name: 'causeway_gateway_generation',
    help: 'The newest generation that the gateway has confirmed.',
    labels: ['gateway'],
  },
  wantedGeneration: {
    kind: 'gauge',
    name: 'causeway_gateway_wanted_generation',
    help: 'The newest generation of the desired state.',
    labels: [],
  },
  refused: {
    kind: 'gauge',
    name: 'causeway_gateway_refused_frontends',
    help: 'The number of frontends (address, protocol, port) that the gateway rejects.',
    labels: ['gateway'],
  },
  withheld: {
    kind: 'gauge',
    name: 'causeway_gateway_withheld_removals',
    help: 'The number of frontends that the gateway still serves because their removal is not verified.',
    labels: ['gateway'],
  },
  fenced: {
    kind: 'gauge',
    name: 'causeway_gateway_fenced',
    help: '1 while the gateway is fenced, by an operator or because it did not answer.',
    labels: ['gateway'],
  },
  followed: {
    kind: 'gauge',
    name: 'causeway_gateway_followed',
    help: "1 while the gateway's status stream is open, so that its probe results count.",
    labels: ['gateway'],
  },
  differentSeeds: {
    kind: 'gauge',
    name: 'causeway_gateway_different_seeds',
    help: '1 while gateways have different seeds, so that a failover breaks running connections.',
    labels: [],
  },
  pinsMissing: {
    kind: 'gauge',
    name: 'causeway_gateway_pins_missing',
    help: '1 while the gateway has not acknowledged the pins of running connections, so that a failover to it can break them.',
    labels: ['gateway'],
  },
  pushes: {
    kind: 'counter',
    name: 'causeway_gateway_pushes_total',
    help: 'Pushes to the gateway, by outcome.',
    labels: ['gateway', 'outcome'],
  },
  unhealthy: {
    kind: 'gauge',
    name: 'causeway_gateway_unhealthy_backends',
    help: 'Unhealthy backends and nodes that all gateways exclude.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;
