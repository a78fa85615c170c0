import type { MetricDefinition } from '@causeway/base/observability/metrics';
import { keepalivedMetricDefinitions } from './keepalived/metrics-reference.ts';
import { roleMetrics } from './role-status.ts';

/** Every metric of the announcers. */
export const announcerMetricDefinitions: readonly MetricDefinition[] = [
  ...Object.values(roleMetrics),
  ...keepalivedMetricDefinitions,
];
