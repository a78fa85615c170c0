import { expect, test } from 'vitest';
import { FakeKubeApi } from '../../../../test/doubles/fake-kube-api.ts';
import { discardLog } from '@causeway/base/observability/log';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { systemClock } from '@causeway/base/time/clock';
import { KubeClient } from '@causeway/kubernetes/client/client';
import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import type { ConfigMap } from '@causeway/kubernetes/objects/core-objects';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { OrphanRegister, orphanRegisterName } from './orphan-register.ts';

const { signal } = new AbortController();
const metadata = { namespace: 'kube-system', name: orphanRegisterName };
const orphan = { kind: 'port', id: 'port-1', mark: 'own' } as const;

test('a damaged report is set aside with an Event, and its confirmations delete nothing', async () => {
  const client = new KubeClient({ transport: new FakeKubeApi(), clock: systemClock });
  const data = { gateway: '{"version":1,"orph', 'delete.gateway.port-1': 'now', other: 'kept' };
  await client.create<ConfigMap>(configMaps, { metadata, data });
  const events: EventContent[] = [];
  const metrics = new PrometheusMetrics();
  const register = new OrphanRegister({
    client,
    namespace: 'kube-system',
    provider: 'gateway',
    clusterId: 'prod',
    log: discardLog,
    metrics,
    record: (_about, content) => void events.push(content),
  });
  const report = { orphans: [orphan], otherClusters: [] };
  expect(await register.report(report, signal)).toEqual(new Set());
  const after = await client.get(configMaps, metadata);
  expect(after.data).toMatchObject({ 'damaged.gateway': data.gateway, other: 'kept' });
  expect(after.data?.['gateway']).toContain('port-1');
  expect(after.data).not.toHaveProperty('delete.gateway.port-1');
  expect(events.map(({ reason }) => reason)).toEqual(['OrphanRegisterDamaged', 'OrphansHeld']);
  expect(await metrics.render()).toContain(
    'causeway_orphans_register_damaged{provider="gateway"} 1',
  );

  // An empty list is checked, too, and the first damaged report is kept.
  await client.patchMerge(configMaps, metadata, { data: { gateway: 'damaged again' } });
  await register.report({ orphans: [], otherClusters: [] }, signal);
  const { data: repaired } = await client.get(configMaps, metadata);
  expect(repaired).toEqual({ 'damaged.gateway': data.gateway, other: 'kept' });
});
