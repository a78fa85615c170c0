import type { MetricDefinition } from '@causeway/base/observability/metrics';
import { forgedAdvertsMetric } from './forged-adverts.ts';
import { keepalivedMetrics } from './watch.ts';

/** Every metric of the keepalived announcer. */
export const keepalivedMetricDefinitions: readonly MetricDefinition[] = [
  ...Object.values(keepalivedMetrics),
  forgedAdvertsMetric,
];
