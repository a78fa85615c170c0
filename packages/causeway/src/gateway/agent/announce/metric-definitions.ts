import type { MetricDefinition } from '@causeway/base/observability/metrics';
import { forgedAdvertsMetric } from './keepalived/forged-adverts.ts';
import { keepalivedMetrics } from './keepalived/watch.ts';
import { roleMetrics } from './role-status.ts';

/** Every metric of the announcers. */
export const announcerMetricDefinitions: readonly MetricDefinition[] = [
  ...Object.values(roleMetrics),
  ...Object.values(keepalivedMetrics),
  forgedAdvertsMetric,
];
