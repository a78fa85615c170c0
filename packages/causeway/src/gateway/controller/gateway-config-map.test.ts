import { expect, test } from 'vitest';
import { FakeKubeApi } from '../../../../../test/doubles/fake-kube-api.ts';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { settled, SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Role } from '../protocol/role.ts';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import type { GatewayReport } from './fleet/fleet-report.ts';
import {
  gatewayConfigMapName,
  GatewayConfigMap,
  readGatewayConfigMap,
  readObserved,
} from './gateway-config-map.ts';

interface Written {
  readonly reachable?: boolean;
  readonly role?: Role;
  readonly problems?: readonly string[];
}

function configMap(...states: Written[]) {
  const data = Object.fromEntries(
    states.map((state, index) => [
      `state.g${index + 1}`,
      JSON.stringify({
        reachable: true,
        current: true,
        fenced: false,
        refusedFrontends: 0,
        problems: [],
        ...state,
      }),
    ]),
  );
  return readGatewayConfigMap({ metadata: { name: 'causeway-gateways' }, data });
}

test.each([
  ['0.1.0, active', '{"master":true}', 'active'],
  ['0.1.0, not active', '{"master":false}', undefined],
  ['0.1.0, with the state of keepalived', '{"master":false,"vrrp":"FAULT"}', 'unable'],
  ['a later version', '{"role":"elsewhere"}', undefined],
])('reads the role that %s wrote', (_, written, role) => {
  const [entry] = configMap(JSON.parse(written) as Written);
  expect(entry?.state?.reachable).toBe(true);
  expect(entry?.state?.role).toBe(role);
});

test('is written again without a change, so that readers know its age', async () => {
  const clock = new SimulatedClock();
  const client = new KubeClient({ transport: new FakeKubeApi(), clock });
  const options = { client, namespace: 'kube-system', clock, log: discardLog, metrics: noMetrics };
  const map = new GatewayConfigMap(options);
  const stop = new AbortController();
  const ended = map.run(stop.signal).catch(() => {});
  const report: GatewayReport = {
    name: 'g1',
    ...{ downForMs: undefined, failure: undefined, generation: 7, isCurrent: false },
    ...{ isActive: true, role: 'active', isFenced: false, refusedFrontends: 0 },
    ...{ withheldRemovals: 0, complaints: [], rejected: { total: 0, services: [] } },
    unconfirmed: { total: 1, services: ['shop/web'], forMs: 4_000 },
  };
  const unhealthy = { total: 1, services: ['shop/api'] };
  map.show(() => ({ gateways: [report], unhealthy }));
  const name = { namespace: 'kube-system', name: gatewayConfigMapName };
  const read = async () => {
    await settled();
    return client.get(configMaps, name, { signal: stop.signal });
  };
  const first = await read();
  const at = clock.wallTime();
  expect(readObserved(first)).toEqual({ at: new Date(at).toISOString(), unhealthy });
  const since = new Date(at - 4_000).toISOString();
  const unconfirmed = { total: 1, services: ['shop/web'], since };
  expect(readGatewayConfigMap(first)).toMatchObject([{ name: 'g1', state: { unconfirmed } }]);
  await clock.advance(10_000);
  expect(readObserved(await read())?.at).toBe(new Date(at + 10_000).toISOString());
  stop.abort();
  await ended;
});
