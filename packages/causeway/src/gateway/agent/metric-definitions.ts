import type { MetricDefinition } from '@causeway/base/observability/metrics';
import { alarmMetric } from './alarms.ts';
import { forgedAdvertsMetric } from './announce/keepalived/forged-adverts.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import { roleMetrics } from './announce/role-status.ts';
import { linkMetrics } from './links/link-watch.ts';
import { keepalivedMetrics } from './announce/keepalived/watch.ts';

/** Every metric of the agent, for the metrics reference. */
export const agentMetricDefinitions: readonly MetricDefinition[] = [
  ...Object.values(gatewayMetrics),
  ...Object.values(keepalivedMetrics),
  ...Object.values(linkMetrics),
  ...Object.values(roleMetrics),
  alarmMetric,
  forgedAdvertsMetric,
];
