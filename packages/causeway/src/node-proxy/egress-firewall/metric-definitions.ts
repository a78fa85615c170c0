import type { MetricDefinition } from '@causeway/base/observability/metrics';

export const hiddenSlices = {
  kind: 'gauge',
  name: 'causeway_egress_firewall_hidden_slices',
  help: 'EndpointSlices that the egress firewall hides from the proxy, by the rule that denies them: the name of the policy and the number of the rule.',
  labels: ['namespace', 'rule'],
} as const satisfies MetricDefinition;

export const egressJudgements = {
  kind: 'counter',
  name: 'causeway_egress_firewall_changes_total',
  help: 'EndpointSlices that the egress firewall has newly hidden or shown again.',
  labels: ['namespace', 'verdict'],
} as const satisfies MetricDefinition;

export const egressFirewallMetricDefinitions: readonly MetricDefinition[] = [
  hiddenSlices,
  egressJudgements,
];
