import { expect, test } from 'vitest';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { ServiceCounts } from './health-metrics.ts';

test('counts Services by state and cause, and ends a count that has none', async () => {
  const metrics = new PrometheusMetrics();
  const counts = new ServiceCounts(metrics);
  const serving = { state: 'serving', reason: '' } as const;
  const lost = { state: 'degraded', reason: 'no-redundancy' } as const;
  counts.show([serving, serving, lost]);
  const first = await metrics.render();
  expect(first).toContain('causeway_services{state="serving",cause=""} 2');
  expect(first).toContain('causeway_services{state="degraded",cause="no-redundancy"} 1');
  expect(first).toContain('causeway_services{state="not-served",cause=""} 0');
  counts.show([serving]);
  const second = await metrics.render();
  expect(second).toContain('causeway_services{state="serving",cause=""} 1');
  expect(second).not.toContain('no-redundancy');
});
