import { expect, test } from 'vitest';
import { FakeKubeApi } from '../../../../test/doubles/fake-kube-api.ts';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock, settled } from '@causeway/base/time/simulated-clock';
import type { Selection } from '../client/client-options.ts';
import { KubeClient } from '../client/client.ts';
import { PinnedCluster } from '../client/pinned-cluster.ts';
import type { Transport } from '../client/transport.ts';
import type { Service } from '../objects/core-objects.ts';
import { services } from '../objects/resources.ts';
import { withSlimMetadata } from './projection.ts';
import { Reflector } from './reflector.ts';
import { Store } from './store.ts';

/** An API server with the namespace `kube-system` and Services of these names. */
function server(...names: string[]): FakeKubeApi {
  const api = new FakeKubeApi();
  for (const name of names) api.put('services', { metadata: { namespace: 'default', name } });
  api.put('namespaces', { metadata: { name: 'kube-system' } });
  return api;
}

function follow(first: Pick<Transport, 'send'>, selection?: Selection) {
  let current = first;
  const transport: Transport = {
    send: (request, signal) => current.send(request, signal),
    close: () => Promise.resolve(),
  };
  const clock = new SimulatedClock();
  const random = () => 0;
  const cluster = new PinnedCluster({ log: discardLog, metrics: noMetrics });
  const client = new KubeClient({ transport, clock, random, cluster });
  const store = new Store<Service>();
  const reflector = new Reflector({
    client,
    resource: services,
    ...(selection === undefined ? {} : { selection }),
    store,
    projection: withSlimMetadata,
    clock,
    log: discardLog,
    metrics: noMetrics,
    random,
    unreadyAfterMs: 10_000,
  });
  const controller = new AbortController();
  const running = reflector.run(controller.signal);
  return {
    reflector,
    names: () => [...store.values()].map(({ metadata }) => metadata?.name ?? '').sort(),
    async pass(ms: number) {
      await settled();
      await clock.advance(ms);
      await settled();
    },
    /** The address leads to another server from now on. */
    async switchTo(next: Pick<Transport, 'send'>, before: FakeKubeApi) {
      current = next;
      before.cutWatches();
      await settled();
    },
    async stop() {
      controller.abort();
      await running;
    },
  };
}

test('objects of another cluster behind the same address are not used', async () => {
  const own = server('web', 'shop');
  const followed = follow(own);
  await settled();
  expect(followed.names()).toEqual(['shop', 'web']);
  const other = server('one', 'two', 'three', 'four');
  // The version of the other cluster is higher, so its watch would continue from ours.
  other.revision = 400;
  await followed.switchTo(other, own);
  other.put('services', { metadata: { namespace: 'default', name: 'five' } });
  await followed.pass(20_000);
  expect(followed.names()).toEqual(['shop', 'web']);
  expect(followed.reflector.readiness()).toContain('belongs to another cluster');
  await followed.switchTo(own, other);
  own.put('services', { metadata: { namespace: 'default', name: 'late' } });
  await followed.pass(40_000);
  expect(followed.names()).toEqual(['late', 'shop', 'web']);
  expect(followed.reflector.readiness()).toBeUndefined();
  await followed.stop();
});

test.each(['known', 'refused'] as const)(
  'a list without objects that the server has is not used (streamed lists are %s)',
  async (streamedLists) => {
    const own = server('web', 'shop');
    own.streamedLists = streamedLists;
    const followed = follow(own);
    await followed.pass(0);
    // A server with the same objects, whose lists are empty.
    const empty = server();
    empty.streamedLists = streamedLists;
    empty.revision = 999;
    empty.compact();
    own.compact();
    const mixed: Pick<Transport, 'send'> = {
      send: (request, signal) => (isOfObject(request.path) ? own : empty).send(request, signal),
    };
    await followed.switchTo(mixed, own);
    await followed.pass(20_000);
    expect(followed.names()).toEqual(['shop', 'web']);
    expect(followed.reflector.readiness()).toContain('lacks default/');
    own.remove('services', 'default', 'shop');
    own.compact();
    await followed.switchTo(own, empty);
    await followed.pass(40_000);
    expect(followed.names()).toEqual(['web']);
    await followed.stop();
  },
);

const isOfObject = (path: string) => /\/(services|namespaces)\/[^/?]+$/.test(path);

test.each([
  ['known', undefined],
  ['refused', undefined],
  ['known', { labelSelector: '!service.kubernetes.io/headless' }],
] as const)(
  'a process that starts does not use a list without the own Service of the API server (%s, %j)',
  async (streamedLists, selection) => {
    const own = server('kubernetes', 'web');
    const empty = server();
    for (const api of [own, empty]) api.streamedLists = streamedLists;
    empty.revision = 999;
    const mixed: Pick<Transport, 'send'> = {
      send: (request, signal) => (isOfObject(request.path) ? own : empty).send(request, signal),
    };
    const followed = follow(mixed, selection);
    await followed.pass(1_000);
    expect(followed.reflector.readiness()).toMatch(/not loaded yet.*lacks default\/kubernetes/);
    await followed.switchTo(own, empty);
    await followed.pass(40_000);
    expect(followed.names()).toEqual(['kubernetes', 'web']);
    expect(followed.reflector.readiness()).toBeUndefined();
    await followed.stop();
  },
);

test.each([
  ['selects other labels', { labelSelector: 'app=web' }],
  ['has another namespace', { namespace: 'shop' }],
])('a list that %s needs no own Service', async (_name, selection) => {
  const own = server('kubernetes', 'web');
  const web = { metadata: { namespace: 'shop', name: 'web', labels: { app: 'web' } } };
  own.put('services', web);
  const followed = follow(own, selection);
  await followed.pass(1_000);
  expect(followed.reflector.readiness()).toBeUndefined();
  await followed.stop();
});
