import { expect, test } from 'vitest';
import type { Service } from '../../packages/kubernetes/src/objects/core-objects.ts';
import { withSlimMetadata } from '../../packages/kubernetes/src/cache/projection.ts';
import { Reflector } from '../../packages/kubernetes/src/cache/reflector.ts';
import { services } from '../../packages/kubernetes/src/objects/resources.ts';
import { Store } from '../../packages/kubernetes/src/cache/store.ts';
import { collect } from '../../packages/openstack/src/collect.ts';
import { Neutron } from '../../packages/openstack/src/neutron/neutron.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../packages/base/src/observability/metrics.ts';
import type { SimulatedProcess } from '../../packages/base/src/simulation/simulation.ts';
import { SimulatedWorld } from './world.ts';

const { signal } = new AbortController();
const newService = (name: string): Service => ({
  metadata: { namespace: 'default', name },
  spec: { ports: [{ port: 80 }] },
});

function follow(world: SimulatedWorld, process: SimulatedProcess): Store<Service> {
  const store = new Store<Service>({ log: discardLog });
  const reflector = new Reflector({
    client: world.kubeClient(process),
    resource: services,
    store,
    projection: withSlimMetadata,
    clock: process.clock,
    random: world.simulation.random,
    log: discardLog,
    metrics: noMetrics,
  });
  void reflector.run(signal);
  return store;
}

test('a reflector follows the cluster, also when the server ends its watch', async () => {
  const world = new SimulatedWorld(1);
  const store = follow(world, world.simulation.process('follower'));
  await world.simulation.runUntil(() => store.isSynced);
  await world.complete(world.user.create(services, newService('web')));
  await world.simulation.runUntil(() => store.get('default/web') !== undefined);
  world.kubernetes.endWatches();
  await world.complete(world.user.delete(services, { namespace: 'default', name: 'web' }));
  await world.simulation.runUntil(() => store.get('default/web') === undefined);
});

test('a killed process gets no more events, its successor gets all', async () => {
  const world = new SimulatedWorld(2);
  const first = world.simulation.process('first');
  const before = follow(world, first);
  await world.simulation.runUntil(() => before.isSynced);
  first.kill();
  await world.complete(world.user.create(services, newService('web')));
  const after = follow(world, world.simulation.process('second'));
  await world.simulation.runUntil(() => after.isSynced);
  expect(before.get('default/web')).toBeUndefined();
  expect(after.get('default/web')).toBeDefined();
});

test('a call is interrupted before or after it takes effect', async () => {
  for (const moment of ['before', 'after'] as const) {
    const world = new SimulatedWorld(3);
    const process = world.simulation.process('writer');
    process.killAt(1, moment);
    void world.kubeClient(process).create(services, newService('web'));
    await world.simulation.runUntil(() => process.isKilled);
    const found = await world.complete(
      world.user.find(services, { namespace: 'default', name: 'web' }),
    );
    expect(found !== undefined).toBe(moment === 'after');
    expect(process.callLabels).toEqual(['POST services default']);
  }
});

test('the clients of OpenStack work in it, with the same order of calls for the same seed', async () => {
  const run = async (seed: number) => {
    const world = new SimulatedWorld(seed);
    const process = world.simulation.process('tenant');
    const neutron = new Neutron(world.cloud(process).session());
    const [network] = await world.complete(
      collect(neutron.networks.list({ name: 'private' }, { signal })),
    );
    const networkId = network?.id ?? '';
    const desiredServices = ['a', 'b', 'c'].map((name) =>
      neutron.ports.create({ networkId, name }, { signal, once: 'name' }),
    );
    const ports = await world.complete(Promise.all(desiredServices));
    expect(new Set(ports.map(({ id }) => id)).size).toBe(3);
    return world.simulation.trace;
  };
  const trace = await run(4);
  expect(trace.some((line) => line.includes('tenant: POST network ports'))).toBe(true);
  expect(await run(4)).toEqual(trace);
});
