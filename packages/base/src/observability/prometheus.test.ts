import { expect, test } from 'vitest';
import type { MetricDefinition } from './metrics.ts';
import { PrometheusMetrics } from './prometheus.ts';

const requests: MetricDefinition<'code'> = {
  kind: 'counter',
  name: 'causeway_test_requests_total',
  help: 'Requests.',
  labels: ['code'],
};

test('renders counters, gauges and histograms', async () => {
  const metrics = new PrometheusMetrics();
  metrics.counter(requests).add({ code: '200' });
  metrics.counter(requests).add({ code: '200' }, 2);
  const gauge = metrics.gauge({
    kind: 'gauge',
    name: 'causeway_test_depth',
    help: 'Depth.',
    labels: ['queue'],
  });
  gauge.set({ queue: 'a' }, 7);
  gauge.set({ queue: 'b' }, 8);
  gauge.remove({ queue: 'b' });
  metrics
    .histogram({
      kind: 'histogram',
      name: 'causeway_test_seconds',
      help: 'Time.',
      labels: [],
      buckets: [1, 2],
    })
    .observe({}, 1.5);
  const text = await metrics.render();
  expect(text).toContain('causeway_test_requests_total{code="200"} 3');
  expect(text).toContain('causeway_test_depth{queue="a"} 7');
  expect(text).not.toContain('queue="b"');
  expect(text).toContain('causeway_test_seconds_bucket{le="2"} 1');
});

test('rejects two definitions of one name', () => {
  const metrics = new PrometheusMetrics();
  metrics.counter(requests);
  expect(() => metrics.counter({ ...requests })).toThrow('is defined twice');
});
