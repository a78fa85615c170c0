import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import type { CreateOptions } from '../../../packages/openstack/src/call.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import type { LoadBalancerSpec } from '../../../packages/openstack/src/load-balancing/specs.ts';
import { describeEveryCloud, mitaka, uniqueName } from './clouds.ts';
import { call, newListener, newPool, portFor, type Stage, useStage } from './fault-stage.ts';

/** A create: the request, and the resulting objects. */
interface Creation {
  readonly service: 'network' | 'loadBalancer';
  readonly create: (stage: Stage, name: string, call: CreateOptions) => Promise<{ id: string }>;
  readonly present: (stage: Stage, name: string) => AsyncIterable<{ id: string }>;
  /** Creates the parent of the object, if it needs one; returns the name to use. */
  readonly prepare?: (stage: Stage, name: string) => Promise<string>;
}

const byName = { once: 'name' } as const;

const neutronCreations: Record<string, Creation> = {
  network: {
    service: 'network',
    create: (s, name, c) => s.neutron.networks.create({ name }, { ...c, ...byName }),
    present: (s, name) => s.neutron.networks.list({ name }, call),
  },
  subnet: {
    service: 'network',
    prepare: async (s, name) => (await s.neutron.networks.create({ name }, call)).id,
    create: (s, networkId, c) =>
      s.neutron.subnets.create(
        { name: networkId, networkId, cidr: parsePrefix('192.168.0.0/24') },
        { ...c, ...byName },
      ),
    present: (s, networkId) => s.neutron.subnets.list({ networkId }, call),
  },
  port: {
    service: 'network',
    create: (s, name, c) =>
      s.neutron.ports.create({ name, networkId: s.networkId }, { ...c, ...byName }),
    present: (s, name) => s.neutron.ports.list({ name }, call),
  },
  'floating IP': {
    service: 'network',
    create: (s, description, c) =>
      s.neutron.floatingIps.create(
        { description, floatingNetworkId: s.externalId },
        { ...c, once: 'description' },
      ),
    present: (s, description) => s.neutron.floatingIps.list({ description }, call),
  },
  router: {
    service: 'network',
    create: (s, name, c) => s.neutron.routers.create({ name }, { ...c, ...byName }),
    present: (s, name) => s.neutron.routers.list({ name }, call),
  },
  'security group': {
    service: 'network',
    create: (s, name, c) => s.neutron.securityGroups.create({ name }, { ...c, ...byName }),
    present: (s, name) => s.neutron.securityGroups.list({ name }, call),
  },
  'security group rule': {
    service: 'network',
    prepare: async (s, name) => (await s.neutron.securityGroups.create({ name }, call)).id,
    create: (s, securityGroupId, c) =>
      s.neutron.securityGroupRules.create(
        {
          securityGroupId,
          direction: 'ingress',
          family: 4,
          protocol: 'tcp',
          portMin: 1,
          portMax: 2,
        },
        c,
      ),
    present: (s, securityGroupId) =>
      s.neutron.securityGroupRules.list({ securityGroupId, direction: 'ingress' }, call),
  },
};

async function* ofListener(s: Stage, listenerId: string) {
  for await (const pool of s.balancing.pools({ loadBalancerId: s.balancerId }, call)) {
    if (pool.listenerIds.includes(listenerId)) yield pool;
  }
}

const balancingCreations: Record<string, Creation> = {
  'load balancer': {
    service: 'loadBalancer',
    create: (s, name, c) =>
      s.balancing.createLoadBalancer({ name, vipSubnetId: s.subnetId }, { ...c, ...byName }),
    present: (s, name) => s.balancing.loadBalancers({ name }, call),
  },
  listener: {
    service: 'loadBalancer',
    create: (s, name, c) =>
      s.balancing.createListener(
        { name, loadBalancerId: s.balancerId, protocol: 'TCP', port: portFor(name) },
        c,
      ),
    present: (s, name) => s.balancing.listeners({ name }, call),
  },
  'pool of a listener': {
    service: 'loadBalancer',
    prepare: newListener,
    create: (s, listenerId, c) =>
      s.balancing.createPool(
        { name: 'p', parent: { listenerId }, protocol: 'TCP', algorithm: 'ROUND_ROBIN' },
        c,
      ),
    present: ofListener,
  },
  'pool of a load balancer': {
    service: 'loadBalancer',
    create: (s, name, c) =>
      s.balancing.createPool(
        {
          name,
          parent: { loadBalancerId: s.balancerId },
          protocol: 'TCP',
          algorithm: 'ROUND_ROBIN',
        },
        { ...c, ...byName },
      ),
    present: (s, name) => s.balancing.pools({ name }, call),
  },
  member: {
    service: 'loadBalancer',
    prepare: newPool,
    create: (s, poolId, c) =>
      s.balancing.createMember(
        poolId,
        { address: parseAddress('10.10.9.1'), port: portFor(poolId) },
        c,
      ),
    present: (s, poolId) => s.balancing.members(poolId, call),
  },
  'health monitor': {
    service: 'loadBalancer',
    prepare: newPool,
    create: (s, poolId, c) =>
      s.balancing.createHealthMonitor(
        { poolId, type: 'TCP', delay: 5, timeout: 3, maxRetries: 2 },
        c,
      ),
    present: (s, poolId) => s.balancing.healthMonitors({ poolId }, call),
  },
};

const wholeTree = (name: string, vipSubnetId: string) =>
  ({
    name,
    vipSubnetId,
    listeners: [
      {
        name: 'l',
        protocol: 'TCP',
        port: portFor(name),
        defaultPool: {
          name: 'p',
          protocol: 'TCP',
          algorithm: 'ROUND_ROBIN',
          members: [{ address: parseAddress('10.10.9.1'), port: portFor(name) }],
          healthMonitor: { type: 'TCP', delay: 5, timeout: 3, maxRetries: 2 },
        },
      },
    ],
  }) as const satisfies LoadBalancerSpec;

await describeEveryCloud(
  'Writes that are cut off',
  {},
  (cloud) => {
    const staged = useStage(cloud);
    const settle = async (stage: Stage, service: Creation['service']) => {
      if (service === 'loadBalancer') await stage.waiter.settled(stage.balancerId, stage.patience);
    };

    it.each(['before', 'after'] as const)(
      'creating ports in bulk %s the service commits',
      async (fault) => {
        const stage = staged();
        const name = uniqueName('bulk');
        const specs = ['a', 'b', 'c'].map((suffix) => ({
          name: `${name}-${suffix}`,
          networkId: stage.networkId,
        }));
        stage.network.arm('POST', fault);
        const made = await stage.neutron.ports.createMany(specs, { ...call, ...byName });
        expect(stage.network.hasStruck()).toBe(true);
        expect(made.map((one) => one.name)).toEqual(specs.map((one) => one.name));
        for (const { name: unique } of specs) {
          expect(await collect(stage.neutron.ports.list({ name: unique }, call))).toHaveLength(1);
        }
      },
    );

    it.each(['before', 'after'] as const)(
      'creating networks in bulk %s the service commits',
      async (fault) => {
        const stage = staged();
        const name = uniqueName('bulk');
        const specs = ['a', 'b', 'c'].map((suffix) => ({ name: `${name}-${suffix}` }));
        stage.network.arm('POST', fault);
        const made = await stage.neutron.networks.createMany(specs, { ...call, ...byName });
        expect(stage.network.hasStruck()).toBe(true);
        for (const [index, { name: unique }] of specs.entries()) {
          const there = await collect(stage.neutron.networks.list({ name: unique }, call));
          expect(there.map(({ id }) => id)).toEqual([made[index]?.id]);
        }
      },
    );

    describe.each([0, 1, 2, 3, 4])(
      'creating a load balancer with all its children, cut at its request %i',
      (others) => {
        it.each(['before', 'after'] as const)('%s the service commits', async (fault) => {
          const stage = staged();
          // Octavia accepts the whole tree in one request; LBaaS v2 needs one for each object.
          if (others > 0 && stage.balancing.kind === 'octavia') return;
          const spec = wholeTree(uniqueName('whole'), stage.subnetId);
          stage.loadBalancer.arm('POST', fault, undefined, others);
          const made = await stage.balancing.createLoadBalancer(spec, { ...call, ...byName });
          expect(stage.loadBalancer.hasStruck()).toBe(true);
          await stage.waiter.active(made.id, stage.patience);
          const named = await collect(stage.balancing.loadBalancers({ name: spec.name }, call));
          expect(named.map(({ id }) => id)).toEqual([made.id]);
          const { listeners } = await stage.balancing.statusTree(made.id, call);
          const pools = listeners.flatMap((listener) => listener.pools);
          expect([listeners.length, pools.length, pools[0]?.members.length]).toEqual([1, 1, 1]);
          expect(pools[0]?.healthMonitor).toBeDefined();
        });
      },
    );

    const creations = Object.entries({ ...neutronCreations, ...balancingCreations });
    describe.each(creations)('creating a %s', (_kind, { service, prepare, create, present }) => {
      it.each(['before', 'after'] as const)('%s the service commits', async (fault) => {
        const stage = staged();
        const unique = uniqueName('cut');
        const name = (await prepare?.(stage, unique)) ?? unique;
        stage[service].arm('POST', fault);
        const made = await create(stage, name, call);
        expect(stage[service].hasStruck()).toBe(true);
        const there = await collect(present(stage, name));
        expect(there.map(({ id }) => id)).toEqual([made.id]);
        await settle(stage, service);
      });

      it('by a process that ends, and the next one retries', async () => {
        const stage = staged();
        const unique = uniqueName('dies');
        const name = (await prepare?.(stage, unique)) ?? unique;
        const dying = new AbortController();
        stage[service].arm('POST', 'after', () => dying.abort());
        await expect(create(stage, name, { signal: dying.signal })).rejects.toBeDefined();
        const made = await create(stage, name, { ...call, mayExist: true });
        const there = await collect(present(stage, name));
        expect(there.map(({ id }) => id)).toEqual([made.id]);
        await settle(stage, service);
      });
    });
  },
  [mitaka],
);
