import { expect, test } from 'vitest';
import { isErrorCode } from '../../../packages/base/src/error/causeway-error.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { kuryrLoadBalancers } from '../../../packages/causeway/src/octavia/kuryr-load-balancer.ts';
import { OpenStackError } from '../../../packages/openstack/src/error.ts';
import { madeTwice } from './invariants.ts';
import { OctaviaWorld, portsOf } from './octavia-world.ts';

const seeds = Array.from({ length: 25 }, (_, index) => index + 1);
const names = ['web', 'mail'];
const edits = 12;

type Edit = (
  world: OctaviaWorld,
  name: string,
  pick: (count: number) => number,
) => Promise<unknown>;

/** Edits by users of their objects, and by operators of the cloud, in any order. */
const inCluster: readonly Edit[] = [
  (world, name, pick) => world.createService(name, { ports: [80, 81, 82].slice(pick(3)) }),
  (world, name) => world.deleteService(name),
  (world, name, pick) =>
    world.patchService(name, { ports: portsOf([80, 81, 82].slice(0, 1 + pick(3))) }),
  (world, name, pick) =>
    world.patchService(name, { type: pick(2) === 0 ? 'ClusterIP' : 'LoadBalancer' }),
  (world, name, pick) =>
    world.setEndpoints(name, ['10.10.1.1', '10.10.1.2', '10.10.1.3'].slice(0, pick(4))),
  (world, name) => {
    const status = { loadbalancer: null, listeners: null, pools: null, members: null };
    const at = { namespace: 'default', name };
    return world.complete(
      world.user.patchMerge(kuryrLoadBalancers, at, { status }, { subresource: 'status' }),
    );
  },
  (world, name) =>
    world.complete(world.user.delete(kuryrLoadBalancers, { namespace: 'default', name })),
  (world, name) =>
    world.complete(
      world.user.patchMerge(
        services,
        { namespace: 'default', name },
        { status: { loadBalancer: null } },
        { subresource: 'status' },
      ),
    ),
];

const inCloud: readonly Edit[] = [
  (world, _, pick) =>
    onRow(world, 'loadBalancers', pick, (id, { balancing, signal }) =>
      balancing.deleteLoadBalancer(id, { signal, cascade: true }),
    ),
  (world, _, pick) =>
    onRow(world, 'listeners', pick, (id, { balancing, signal }) =>
      balancing.deleteListener(id, { signal }),
    ),
  (world, _, pick) =>
    onRow(world, 'pools', pick, (id, { balancing, signal }) =>
      balancing.deletePool(id, { signal }),
    ),
  (world, _, pick) =>
    onRow(world, 'pools', pick, (id, { balancing, signal }) =>
      balancing.updatePool(id, { algorithm: 'LEAST_CONNECTIONS' }, { signal }),
    ),
  (world, _, pick) =>
    onRow(world, 'pools', pick, (id, { balancing, signal }) =>
      balancing.replaceMembers(id, [], { signal }),
    ),
  (world, _, pick) => {
    const rows = world.openstack.neutron.floatingIps.all();
    const { id } = rows[pick(rows.length)] ?? {};
    if (id === undefined) return Promise.resolve();
    return world.byHand(({ neutron, signal }) => neutron.floatingIps.delete(id, { signal }));
  },
];

type Hands = Parameters<Parameters<OctaviaWorld['byHand']>[0]>[0];

function onRow(
  world: OctaviaWorld,
  table: 'loadBalancers' | 'listeners' | 'pools',
  pick: (count: number) => number,
  work: (id: string, hands: Hands) => Promise<unknown>,
): Promise<unknown> {
  const rows = world.openstack.octavia[table].all();
  const { id } = rows[pick(rows.length)] ?? {};
  if (id === undefined) return Promise.resolve();
  return world.byHand((hands) => work(id, hands));
}

/** A user's command may fail: the object is deleted, the load balancer locked. */
function mayFail(error: unknown): void {
  if (error instanceof OpenStackError) return;
  for (const code of ['not-found', 'conflict', 'invalid'] as const)
    if (isErrorCode(error, code)) return;
  throw error;
}

test('both sides converge after any edits, and nothing is left over', async () => {
  for (const seed of seeds) {
    const world = new OctaviaWorld(seed, { hasteMs: 200 });
    const { random } = world.simulation;
    const pick = (count: number) => Math.floor(random() * count);
    const all = [...inCluster, ...inCloud];
    let process = world.startController();
    for (const name of names) {
      await world.createService(name);
      await world.setEndpoints(name, ['10.10.1.1']);
    }
    for (let count = 0; count < edits; count += 1) {
      await world.simulation.runFor(pick(4) * 500);
      const edit = all[pick(all.length)];
      await edit?.(world, names[pick(names.length)] ?? '', pick).catch(mayFail);
      if (pick(6) > 0) continue;
      process.kill();
      process = world.startController();
    }
    await world.settle(() => madeTwice(world), 60_000);
    for (const name of names) {
      await world.deleteService(name).catch(mayFail);
    }
    await world.settle(() => madeTwice(world), 60_000);
    process.kill();
    expect(world.openstack.octavia.loadBalancers.all(), `seed ${seed}`).toEqual([]);
    expect(world.openstack.neutron.floatingIps.all(), `seed ${seed}`).toEqual([]);
  }
});
