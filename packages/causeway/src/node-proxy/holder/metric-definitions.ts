import type { MetricDefinition } from '@causeway/base/observability/metrics';

export const heldPackets = {
  kind: 'counter',
  name: 'causeway_holder_packets_total',
  help: 'First packets of connections to idle Services, by outcome.',
  labels: ['outcome'],
} as const satisfies MetricDefinition;

export const waitingPackets = {
  kind: 'gauge',
  name: 'causeway_holder_waiting_packets',
  help: 'Packets that wait for a Service to wake.',
  labels: [],
} as const satisfies MetricDefinition;

export const waitingBytes = {
  kind: 'gauge',
  name: 'causeway_holder_waiting_bytes',
  help: 'Bytes of the packets that wait for a Service to wake.',
  labels: [],
} as const satisfies MetricDefinition;

export const podRequests = {
  kind: 'counter',
  name: 'causeway_holder_pod_requests_total',
  help: 'NeedPods Events sent.',
  labels: [],
} as const satisfies MetricDefinition;

export const acceptedConnections = {
  kind: 'counter',
  name: 'causeway_holder_accepted_connections_total',
  help: 'Connections accepted for idle Services, by outcome.',
  labels: ['outcome'],
} as const satisfies MetricDefinition;

export const holderMetricDefinitions: readonly MetricDefinition[] = [
  heldPackets,
  waitingPackets,
  waitingBytes,
  podRequests,
  acceptedConnections,
];
