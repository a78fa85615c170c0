import { expect, test } from 'vitest';
import { answer, FakeKubeApi } from '../../../../../../test/doubles/fake-kube-api.ts';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { ClusterRemovalVerifier } from './removal-verifier.ts';

const { signal } = new AbortController();
const frontend = {
  address: parseAddress('192.0.2.1'),
  protocol: 'TCP' as const,
  port: parsePort(80),
  service: 'default/web',
};

function verifierOn(api: FakeKubeApi): ClusterRemovalVerifier {
  const clock = new SimulatedClock();
  return new ClusterRemovalVerifier({
    client: new KubeClient({ transport: api, clock, random: () => 0 }),
    keeper: { ports: () => [], isHeld: () => false },
    clock,
    expectedCluster: undefined,
  });
}

test('verifies no removal with a list that lacks a Service which exists', async () => {
  const api = new FakeKubeApi();
  api.put('services', { metadata: { namespace: 'default', name: 'kubernetes' } });
  api.put('namespaces', { metadata: { name: 'kube-system' } });
  const verifier = verifierOn(api);
  expect((await verifier.verify([frontend], signal)).verified.size).toBe(1);
  api.put('services', { metadata: { namespace: 'default', name: 'web' } });
  const kubernetes = { metadata: { namespace: 'default', name: 'kubernetes' } };
  api.fault = ({ path }) =>
    path.startsWith('/api/v1/services')
      ? answer(200, { metadata: { resourceVersion: '999' }, items: [kubernetes] })
      : undefined;
  await expect(verifier.verify([frontend], signal)).rejects.toThrow('lacks default/web');
  // Each owner is read, not only the first ones.
  const deleted = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((port) => ({
    ...frontend,
    port: parsePort(port),
    service: `default/deleted${port}`,
  }));
  await expect(verifier.verify([...deleted, frontend], signal)).rejects.toThrow('default/web');
  expect((await verifier.verify(deleted, signal)).verified.size).toBe(9);
});

test('verifies removals without the permission to read kube-system', async () => {
  const api = new FakeKubeApi();
  api.put('services', { metadata: { namespace: 'default', name: 'kubernetes' } });
  api.fault = ({ path }) =>
    path.endsWith('/kube-system') ? answer(403, { message: 'forbidden' }) : undefined;
  const verdict = await verifierOn(api).verify([frontend], signal);
  expect(verdict).toMatchObject({ cluster: undefined, verified: new Set(['192.0.2.1:80/TCP']) });
});
