import type { MetricDefinition } from '@causeway/base/observability/metrics';
import { alarmMetric } from './alarms.ts';
import { announcerMetricDefinitions } from './announce/metrics-reference.ts';
import { gatewayMetrics } from './metric-definitions.ts';
import { linkMetrics } from './links/link-watch.ts';

/** Every metric of the agent, for the metrics reference. */
export const agentMetricDefinitions: readonly MetricDefinition[] = [
  ...Object.values(gatewayMetrics),
  ...announcerMetricDefinitions,
  ...Object.values(linkMetrics),
  alarmMetric,
];
