import type { MetricDefinition } from '../runtime/metrics.ts';
import { alarmMetric } from './alarms.ts';
import { forgedAdvertsMetric } from './forged-adverts.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import { vrrpMetrics } from './keepalived/vrrp-status.ts';
import { linkMetrics } from './links/link-watch.ts';
import { keepalivedMetrics } from './keepalived/watch.ts';

/** Every metric of the agent, for the metrics reference. */
export const agentMetricDefinitions: readonly MetricDefinition[] = [
  ...Object.values(gatewayMetrics),
  ...Object.values(keepalivedMetrics),
  ...Object.values(linkMetrics),
  ...Object.values(vrrpMetrics),
  alarmMetric,
  forgedAdvertsMetric,
];
