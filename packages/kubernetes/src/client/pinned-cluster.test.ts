import { expect, test, vi } from 'vitest';
import { answer, FakeKubeApi } from '../../../../test/doubles/fake-kube-api.ts';
import { discardLog } from '@causeway/base/observability/log';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { KubeClient } from './client.ts';
import { PinnedCluster } from './pinned-cluster.ts';

const { signal } = new AbortController();

test('reports once that it may not read kube-system, and reports the end', async () => {
  const api = new FakeKubeApi();
  api.put('namespaces', { metadata: { name: 'kube-system' } });
  const warn = vi.fn();
  const info = vi.fn();
  const metrics = new PrometheusMetrics();
  const cluster = new PinnedCluster({ log: { ...discardLog, warn, info }, metrics });
  const client = new KubeClient({ transport: api, clock: new SimulatedClock(), random: () => 0 });
  await cluster.check(client, signal);
  expect(cluster.problem).toBeUndefined();
  expect(await metrics.render()).toContain('causeway_kube_cluster_verifiable 1');
  api.fault = () => answer(403, { message: 'forbidden' });
  await cluster.check(client, signal);
  await cluster.check(client, signal);
  expect(cluster.problem).toContain('may not read the namespace kube-system');
  expect(warn).toHaveBeenCalledTimes(1);
  expect(await metrics.render()).toContain('causeway_kube_cluster_verifiable 0');
  api.fault = undefined;
  await cluster.check(client, signal);
  expect(cluster.problem).toBeUndefined();
  expect(info).toHaveBeenCalledTimes(1);
  expect(await metrics.render()).toContain('causeway_kube_cluster_verifiable 1');
});
