import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAddress } from '../../../src/domain/address.ts';
import { parsePort } from '../../../src/domain/port.ts';
import { parsePrefix } from '../../../src/domain/prefix.ts';
import type { CallOptions } from '../../../src/openstack/call.ts';
import { collect } from '../../../src/openstack/collect.ts';
import { describeEveryCloud, mitaka, uniqueName } from './clouds.ts';
import { newListener, newPool, setStage, type Stage, written } from './fault-stage.ts';

const call = { signal: new AbortController().signal };

/** A change or a delete: made on something, and what can be seen of it afterwards. */
interface Change {
  readonly service: 'network' | 'loadBalancer';
  readonly method: 'PUT' | 'DELETE';
  readonly prepare: (stage: Stage, name: string) => Promise<string>;
  readonly write: (stage: Stage, id: string, call: CallOptions) => Promise<unknown>;
  readonly seen: (stage: Stage, id: string) => Promise<unknown>;
  readonly expected: unknown;
}

const gone = async (object: Promise<unknown>) => {
  try {
    await object;
    return 'there';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};
const newPort = async (s: Stage, name: string) =>
  (await s.neutron.ports.create({ name, networkId: s.networkId }, call)).id;
const newRouter = async (s: Stage, name: string) => {
  const { id: networkId } = await s.neutron.networks.create({ name }, call);
  const cidr = parsePrefix('192.168.7.0/24');
  const subnet = await s.neutron.subnets.create({ name, networkId, cidr }, call);
  const router = await s.neutron.routers.create({ name }, call);
  return `${router.id} ${subnet.id}`;
};
const both = (ids: string) => ids.split(' ') as [string, string];
const interfaces = async (s: Stage, ids: string) =>
  (await collect(s.neutron.ports.list({ deviceId: both(ids)[0] }, call))).length;
const members = async (s: Stage, poolId: string) =>
  (await collect(s.balancing.members(poolId, call))).map(({ address }) => address).sort();

const neutronChanges: Record<string, Change> = {
  'a port changed': {
    service: 'network',
    method: 'PUT',
    prepare: newPort,
    write: (s, id, c) => s.neutron.ports.update(id, { description: 'new' }, c),
    seen: async (s, id) => (await s.neutron.ports.get(id, call)).description,
    expected: 'new',
  },
  'tags replaced': {
    service: 'network',
    method: 'PUT',
    prepare: newPort,
    write: (s, id, c) => s.neutron.ports.replaceTags(id, ['a/b', 'c'], c),
    seen: async (s, id) => [...(await s.neutron.ports.get(id, call)).tags].sort(),
    expected: ['a/b', 'c'],
  },
  'a floating IP tied to a port': {
    service: 'network',
    method: 'PUT',
    prepare: async (s, description) => {
      const spec = { description, floatingNetworkId: s.externalId };
      const floating = await s.neutron.floatingIps.create(spec, call);
      return `${floating.id} ${await newPort(s, description)}`;
    },
    write: (s, ids, c) => s.neutron.floatingIps.associate(...both(ids), c),
    seen: async (s, ids) => {
      const { portId } = await s.neutron.floatingIps.get(both(ids)[0], call);
      return portId === both(ids)[1];
    },
    expected: true,
  },
  'a router connected': {
    service: 'network',
    method: 'PUT',
    prepare: newRouter,
    write: (s, ids, c) => s.neutron.addRouterInterface(...both(ids), c),
    seen: interfaces,
    expected: 1,
  },
  'a router disconnected': {
    service: 'network',
    method: 'PUT',
    prepare: async (s, name) => {
      const ids = await newRouter(s, name);
      await s.neutron.addRouterInterface(...both(ids), call);
      return ids;
    },
    write: (s, ids, c) => s.neutron.removeRouterInterface(...both(ids), c),
    seen: interfaces,
    expected: 0,
  },
  'a port deleted': {
    service: 'network',
    method: 'DELETE',
    prepare: newPort,
    write: (s, id, c) => s.neutron.ports.delete(id, c),
    seen: (s, id) => gone(s.neutron.ports.get(id, call)),
    expected: 'not-found',
  },
};

const balancingChanges: Record<string, Change> = {
  'a load balancer changed': {
    service: 'loadBalancer',
    method: 'PUT',
    prepare: (s) => Promise.resolve(s.balancerId),
    write: (s, id, c) =>
      written(s, () => s.balancing.updateLoadBalancer(id, { description: uniqueName('d') }, c)),
    seen: async (s, id) => (await s.balancing.loadBalancer(id, call)).provisioningStatus,
    expected: 'ACTIVE',
  },
  'a listener changed': {
    service: 'loadBalancer',
    method: 'PUT',
    prepare: newListener,
    write: (s, id, c) =>
      written(s, () => s.balancing.updateListener(id, { connectionLimit: 7 }, c)),
    seen: async (s, id) => (await s.balancing.listener(id, call)).connectionLimit,
    expected: 7,
  },
  'members replaced': {
    service: 'loadBalancer',
    method: 'PUT',
    prepare: newPool,
    write: (s, id, c) =>
      written(s, () =>
        s.balancing.replaceMembers(
          id,
          ['10.10.9.1', '10.10.9.2'].map((address) => ({
            address: parseAddress(address),
            port: parsePort(80),
          })),
          c,
        ),
      ),
    seen: members,
    expected: ['10.10.9.1', '10.10.9.2'],
  },
  'a listener deleted': {
    service: 'loadBalancer',
    method: 'DELETE',
    prepare: newListener,
    write: (s, id, c) => written(s, () => s.balancing.deleteListener(id, c)),
    seen: (s, id) => gone(s.balancing.listener(id, call)),
    expected: 'not-found',
  },
  'a load balancer deleted whole': {
    service: 'loadBalancer',
    method: 'DELETE',
    prepare: async (s, name) => {
      const spec = { name, vipSubnetId: s.subnetId };
      const { id } = await s.balancing.createLoadBalancer(spec, call);
      await s.waiter.active(id, call);
      return id;
    },
    write: async (s, id, c) => {
      await s.balancing.deleteLoadBalancer(id, { ...c, cascade: true });
      await s.waiter.gone(id, c);
    },
    seen: (s, id) => gone(s.balancing.loadBalancer(id, call)),
    expected: 'not-found',
  },
};

await describeEveryCloud(
  'Changes that are cut off',
  {},
  (cloud) => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await setStage(cloud());
    });
    afterAll(async () => {
      await stage?.close();
    });

    const changes = Object.entries({ ...neutronChanges, ...balancingChanges });
    describe.each(changes)('%s', (kind, { service, method, prepare, write, seen, expected }) => {
      it.each(['before', 'after'] as const)('%s the service commits', async (fault) => {
        const id = await prepare(stage, uniqueName('cut'));
        // LBaaS v2 has no batch: members are added one by one.
        const batchless = kind === 'members replaced' && stage.balancing.kind === 'lbaas-v2';
        stage[service].arm(batchless ? 'POST' : method, fault);
        await write(stage, id, call);
        expect(stage[service].hasStruck()).toBe(true);
        expect(await seen(stage, id)).toEqual(expected);
      });
    });
  },
  [mitaka],
);
