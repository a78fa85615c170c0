import { expect, it } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { isLocked, whenUnlocked } from '../../../packages/openstack/src/load-balancing/lock.ts';
import { openLoadBalancing } from '../../../packages/openstack/src/load-balancing/open.ts';
import type { LoadBalancer } from '../../../packages/openstack/src/load-balancing/resources.ts';
import type { LoadBalancerSpec } from '../../../packages/openstack/src/load-balancing/specs.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { describeEveryCloud, mitaka, type TestCloud, uniqueName } from './clouds.ts';

const call = { signal: new AbortController().signal };
const member = (address: string, extra: object = {}) => ({
  address: parseAddress(address),
  port: parsePort(8080),
  ...extra,
});

async function open(cloud: TestCloud) {
  const session = cloud.open('demo', {}, { ...cloud.pauses, pageSize: 2 }).session();
  const neutron = new Neutron(session);
  const [subnet] = await collect(neutron.subnets.list({ name: 'private-v4' }, call));
  if (subnet === undefined) throw new Error('the cloud has no private subnet');
  const service = await openLoadBalancing(session, call);
  const { waiter } = service;
  const unlocked = <T>(id: string, write: () => Promise<T>) =>
    whenUnlocked(waiter, id, write, call);
  const remove = async (id: string) => {
    await unlocked(id, () => service.deleteLoadBalancer(id, { ...call, cascade: true }));
    await waiter.gone(id, call);
  };
  return { session, neutron, subnet, service, waiter, unlocked, remove };
}

const listenerTree = (port: number): NonNullable<LoadBalancerSpec['listeners']>[number] => ({
  name: `tcp-${port}`,
  protocol: 'TCP',
  port: parsePort(port),
  defaultPool: {
    name: `pool-${port}`,
    protocol: 'TCP',
    algorithm: 'ROUND_ROBIN',
    members: [member('10.10.7.1'), member('10.10.7.2', { weight: 3 })],
    healthMonitor: { type: 'TCP', delay: 5, timeout: 3, maxRetries: 3 },
  },
});

await describeEveryCloud(
  'Load balancing',
  {},
  (cloud) => {
    it('creates a load balancer with all its children, changes it and deletes it as a whole', async () => {
      const { service, waiter, unlocked, remove, subnet } = await open(cloud());
      const name = uniqueName('full');
      const spec = {
        name,
        vipSubnetId: subnet.id,
        listeners: [listenerTree(80), listenerTree(443)],
      };
      const made = await service.createLoadBalancer(spec, { ...call, once: 'name' });
      const active = await waiter.active(made.id, call);
      expect(active).toMatchObject({ name, provisioningStatus: 'ACTIVE', vipSubnetId: subnet.id });
      expect(active.vipAddress).toMatch(/^10\.10\./);
      expect(active.listenerIds).toHaveLength(2);
      const listeners = await collect(service.listeners({ loadBalancerId: made.id }, call));
      expect(new Set(listeners.map(({ port }) => port))).toEqual(new Set([80, 443]));
      const pools = await collect(service.pools({ loadBalancerId: made.id }, call));
      const pool = pools.find((candidate) => candidate.name === 'pool-80');
      if (pool === undefined) throw new Error('no pool');
      expect(pool).toMatchObject({ loadBalancerId: made.id, algorithm: 'ROUND_ROBIN' });
      const members = await collect(service.members(pool.id, call));
      expect(new Set(members.map(({ weight }) => weight))).toEqual(new Set([1, 3]));
      const monitors = await collect(service.healthMonitors({ poolId: pool.id }, call));
      expect(monitors.map(({ id }) => id)).toEqual([pool.healthMonitorId]);
      const tree = await service.statusTree(made.id, call);
      expect(tree.listeners.flatMap((listener) => listener.pools)).toHaveLength(2);

      const same = [member('10.10.7.1'), member('10.10.7.2', { weight: 3 })];
      expect(await service.replaceMembers(pool.id, same, call)).toBe('unchanged');
      const other = [member('10.10.7.2', { weight: 0 }), member('10.10.7.3')];
      const replaced = await unlocked(made.id, () => service.replaceMembers(pool.id, other, call));
      expect(replaced).toBe('changed');
      await waiter.active(made.id, call);
      const after = await collect(service.members(pool.id, call));
      expect(after.map(({ address, weight }) => `${address} ${weight}`).sort()).toEqual([
        '10.10.7.2 0',
        '10.10.7.3 1',
      ]);
      await remove(made.id);
      await expect(service.loadBalancer(made.id, call)).rejects.toMatchObject({
        code: 'not-found',
      });
      expect(await service.deleteLoadBalancer(made.id, call)).toBe('absent');
    });

    it('creates one step by step, each step once', async () => {
      const { service, waiter, unlocked, remove, subnet } = await open(cloud());
      const name = uniqueName('steps');
      const release = cloud().running.holdProvisioning?.();
      const lb = await service.createLoadBalancer(
        { name, vipSubnetId: subnet.id },
        { ...call, once: 'name' },
      );
      const spec = {
        name: 'l',
        protocol: 'TCP',
        port: parsePort(80),
        loadBalancerId: lb.id,
      } as const;
      const early = await service.createListener(spec, call).catch((e: unknown) => e);
      release?.();
      expect(isLocked(early)).toBe(true);
      const again = await service.createLoadBalancer(
        { name, vipSubnetId: subnet.id },
        { ...call, once: 'name', mayExist: true },
      );
      expect(again.id).toBe(lb.id);
      const listener = await unlocked(lb.id, () => service.createListener(spec, call));
      await waiter.active(lb.id, call);
      const twin = await service.createListener(spec, call).catch((e: unknown) => e);
      expect(twin).toMatchObject({ code: 'conflict' });
      expect(isLocked(twin)).toBe(false);
      const found = await service.createListener(spec, { ...call, mayExist: true });
      expect(found.id).toBe(listener.id);
      const poolSpec = {
        name: 'p',
        protocol: 'TCP',
        algorithm: 'ROUND_ROBIN',
        parent: { listenerId: listener.id },
      } as const;
      const pool = await unlocked(lb.id, () => service.createPool(poolSpec, call));
      const one = await unlocked(lb.id, () =>
        service.createMember(pool.id, member('10.10.8.1'), call),
      );
      await waiter.active(lb.id, call);
      const foundMember = await service.createMember(pool.id, member('10.10.8.1'), {
        ...call,
        mayExist: true,
      });
      expect(foundMember.id).toBe(one.id);
      const changed = await unlocked(lb.id, () =>
        service.updateMember(pool.id, one.id, { weight: 5 }, call),
      );
      expect(changed.address).toBe('10.10.8.1');
      const monitor = await unlocked(lb.id, () =>
        service.createHealthMonitor(
          { poolId: pool.id, type: 'TCP', delay: 5, timeout: 3, maxRetries: 2 },
          call,
        ),
      );
      await unlocked(lb.id, () => service.updateHealthMonitor(monitor.id, { delay: 7 }, call));
      await unlocked(lb.id, () =>
        service.updateListener(listener.id, { connectionLimit: 9 }, call),
      );
      await waiter.active(lb.id, call);
      expect((await service.listener(listener.id, call)).connectionLimit).toBe(9);
      expect((await service.healthMonitor(monitor.id, call)).delay).toBe(7);
      if (service.capabilities().timeouts) {
        const { timeouts: before } = await service.listener(listener.id, call);
        for (const clientData of [61_000, null]) {
          const timeouts = { clientData };
          await unlocked(lb.id, () => service.updateListener(listener.id, { timeouts }, call));
          await waiter.active(lb.id, call);
          const after = { ...before, clientData: clientData ?? before.clientData };
          expect((await service.listener(listener.id, call)).timeouts).toEqual(after);
        }
      }
      const refused = await service.deleteLoadBalancer(lb.id, call).catch((e: unknown) => e);
      expect(refused).toMatchObject({ outcome: 'refused' });
      await unlocked(lb.id, () => service.deleteHealthMonitor(monitor.id, call));
      await unlocked(lb.id, () => service.deleteMember(pool.id, one.id, call));
      await unlocked(lb.id, () => service.deletePool(pool.id, call));
      await unlocked(lb.id, () => service.deleteListener(listener.id, call));
      await remove(lb.id);
    });

    it('reports its capabilities, flavors, zones and providers', async () => {
      const { service } = await open(cloud());
      const capabilities = service.capabilities();
      if (service.kind === 'octavia') {
        expect(capabilities).toMatchObject({ fullTree: true, cascade: true, tags: true });
        expect((await service.flavors(call)).map(({ name }) => name)).toEqual(['single']);
        expect((await service.availabilityZones(call)).map(({ name }) => name)).toEqual(['zone-a']);
        expect((await service.providers(call)).map(({ name }) => name)).toContain('amphora');
      } else {
        expect(capabilities).toMatchObject({ fullTree: false, cascade: false, tags: false });
        expect(await service.flavors(call)).toEqual([]);
        expect(await service.availabilityZones(call)).toEqual([]);
      }
    });

    it('finds by tags, by name and page by page', async () => {
      const { service, waiter, remove, subnet } = await open(cloud());
      const tags = service.capabilities().tags ? [uniqueName('tag')] : [];
      const name = uniqueName('page');
      const made: LoadBalancer[] = [];
      for (const suffix of ['a', 'b', 'c']) {
        made.push(
          await service.createLoadBalancer(
            { name: `${name}-${suffix}`, vipSubnetId: subnet.id, tags },
            call,
          ),
        );
      }
      await Promise.all(made.map(({ id }) => waiter.active(id, call)));
      const all = await collect(service.loadBalancers({}, call));
      expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
      const [byName] = await collect(service.loadBalancers({ name: `${name}-b` }, call));
      expect(byName?.id).toBe(made[1]?.id);
      const { vipAddress, vipPortId, projectId } = made[1] ?? {};
      if (vipAddress === undefined || vipPortId === undefined || projectId === undefined) {
        throw new Error('a load balancer without its address');
      }
      for (const filter of [{ vipAddress }, { vipPortId }]) {
        const found = await collect(service.loadBalancers({ ...filter, projectId }, call));
        expect(found.map(({ id }) => id)).toEqual([made[1]?.id]);
      }
      const active = service.loadBalancers({ provisioningStatus: 'ACTIVE', projectId }, call);
      expect((await collect(active)).map(({ id }) => id)).toEqual(
        expect.arrayContaining(made.map(({ id }) => id)),
      );
      const pending = service.loadBalancers({ provisioningStatus: 'PENDING_CREATE' }, call);
      expect((await collect(pending)).filter(({ id }) => made.some((lb) => lb.id === id))).toEqual(
        [],
      );
      if (tags.length > 0) {
        const tagged = await collect(service.loadBalancers({ tags }, call));
        expect(tagged).toHaveLength(3);
      } else {
        expect(() => service.loadBalancers({ tags: ['x'] }, call)).toThrow(/no tags/);
      }
      await Promise.all(made.map(({ id }) => remove(id)));
    });

    it('keeps the port that was created for it', async () => {
      const { service, neutron, waiter, remove, subnet } = await open(cloud());
      const name = uniqueName('own-port');
      const port = await neutron.ports.create({ name, networkId: subnet.networkId }, call);
      if (service.kind === 'lbaas-v2') return;
      const lb = await service.createLoadBalancer({ name, vipPortId: port.id }, call);
      expect(lb.vipPortId).toBe(port.id);
      expect(lb.vipAddress).toBe(port.fixedIps[0]?.address);
      await waiter.active(lb.id, call);
      await remove(lb.id);
      expect((await neutron.ports.get(port.id, call)).id).toBe(port.id);
      await neutron.ports.delete(port.id, call);
    });

    it('is inaccessible to other projects', async () => {
      const { service, waiter, remove, subnet } = await open(cloud());
      const lb = await service.createLoadBalancer(
        { name: uniqueName('closed'), vipSubnetId: subnet.id },
        call,
      );
      const other = await openLoadBalancing(cloud().open('alt').session(), call);
      const failure = await other.loadBalancer(lb.id, call).catch((e: unknown) => e);
      expect(failure).toMatchObject({ outcome: 'refused' });
      expect(['forbidden', 'not-found']).toContain((failure as { code: string }).code);
      await waiter.active(lb.id, call);
      await remove(lb.id);
    });
  },
  [mitaka],
);
