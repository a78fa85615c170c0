import { expect, test } from 'vitest';
import type { MetricDefinition } from './metrics.ts';
import { PrometheusMetrics } from './prometheus.ts';
import { Readiness } from './readiness.ts';
import { ScopedMetrics } from './scoped-metrics.ts';

const behind: MetricDefinition<'gateway'> = {
  kind: 'gauge',
  name: 'causeway_test_behind',
  help: 'Test.',
  labels: ['gateway'],
};
const pushes: MetricDefinition<never> = {
  kind: 'counter',
  name: 'causeway_test_total',
  help: 'Test.',
  labels: [],
};

test('the gauges of a part go with it, its counters stay', async () => {
  const metrics = new PrometheusMetrics();
  const scope = new ScopedMetrics(metrics);
  scope.gauge(behind).set({ gateway: 'gw1' }, 3);
  scope.counter(pushes).add({});
  expect(await metrics.render()).toContain('causeway_test_behind{gateway="gw1"} 3');
  scope.clear();
  expect(await metrics.render()).not.toContain('gw1');
  expect(await metrics.render()).toContain('causeway_test_total 1');
  new ScopedMetrics(metrics).gauge(behind).set({ gateway: 'gw1' }, 0);
  expect(await metrics.render()).toContain('causeway_test_behind{gateway="gw1"} 0');
});

test('the checks of a part go with it', () => {
  const readiness = new Readiness();
  readiness.add('lease', () => undefined);
  const scope = readiness.scope();
  scope.add('services', () => 'not synced');
  expect(readiness.report()).toHaveLength(2);
  scope.clear();
  expect(readiness.report().map(({ name }) => name)).toEqual(['lease']);
});
