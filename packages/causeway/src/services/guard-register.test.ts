import { afterEach, beforeEach, expect, test } from 'vitest';
import { discardLog } from '@causeway/base/observability/log';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { systemClock } from '@causeway/base/time/clock';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { ProviderLab } from '../gateway/controller/simulated-provider.testing.ts';
import { GuardRegister, guardRegisterName, readGuardRegister } from './guard-register.ts';

const metadata = { namespace: 'kube-system', name: guardRegisterName };
let lab: ProviderLab;
beforeEach(async () => {
  lab = await ProviderLab.start();
});
afterEach(() => lab.close());

async function read(client: KubeClient) {
  return readGuardRegister((await client.find(configMaps, metadata)) ?? {});
}

test('shows what guards hold back, and removes it afterwards', async () => {
  const { client } = lab;
  const events: string[] = [];
  const metrics = new PrometheusMetrics();
  const register = new GuardRegister({
    ...{ client, metrics, clock: systemClock, log: discardLog },
    namespace: 'kube-system',
    record: (_about, { reason, message }) => void events.push(`${reason}: ${message}`),
  });
  await client.create(configMaps, {
    metadata,
    data: { addresses: JSON.stringify({ message: 'of an earlier process', since: '' }) },
  });
  const stop = new AbortController();
  const running = register.run(stop.signal);
  await expect.poll(() => read(client)).toEqual([]);
  register.report('nodes', { held: 2, message: '2 of 2 nodes are not ready' });
  await expect
    .poll(() => read(client))
    .toMatchObject([{ guard: 'nodes', message: '2 of 2 nodes are not ready' }]);
  expect(await metrics.render()).toContain('causeway_guard_held{guard="nodes"} 2');
  register.report('nodes', undefined);
  await expect.poll(() => read(client), { timeout: 10_000 }).toEqual([]);
  expect(events).toEqual([
    'MassLossHeld: 2 of 2 nodes are not ready',
    'GuardEnded: The guard for nodes holds nothing back any more',
  ]);
  stop.abort();
  await running;
});
