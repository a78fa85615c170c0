import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { type Change, gone } from './fault-change.ts';
import { call, newListener, newPool, type Stage, written } from './fault-stage.ts';

const both = (ids: string) => ids.split(' ') as [string, string];
const members = async (s: Stage, poolId: string) =>
  (await collect(s.balancing.members(poolId, call))).map(({ address }) => address).sort();
const newLoadBalancer = async (s: Stage, name: string) => {
  const spec = { name, vipSubnetId: s.subnetId };
  const { id } = await s.balancing.createLoadBalancer(spec, call);
  await s.waiter.active(id, s.patience);
  return id;
};
const newMember = async (s: Stage, name: string) => {
  const poolId = await newPool(s, name);
  const spec = { address: parseAddress('10.10.9.1'), port: parsePort(80) };
  const { id } = await written(s, () => s.balancing.createMember(poolId, spec, call));
  return `${poolId} ${id}`;
};
const newMonitor = async (s: Stage, name: string) => {
  const poolId = await newPool(s, name);
  const spec = { poolId, type: 'TCP', delay: 5, timeout: 3, maxRetries: 2 } as const;
  return (await written(s, () => s.balancing.createHealthMonitor(spec, call))).id;
};

export const balancingChanges: Record<string, Change> = {
  'a load balancer changed': {
    service: 'loadBalancer',
    method: 'PUT',
    prepare: async (s) => {
      const change = { description: 'old' };
      await written(s, () => s.balancing.updateLoadBalancer(s.balancerId, change, call));
      return s.balancerId;
    },
    write: (s, id, c) =>
      written(s, () => s.balancing.updateLoadBalancer(id, { description: 'new' }, c)),
    seen: async (s, id) => (await s.balancing.loadBalancer(id, call)).description,
    expected: 'new',
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
    prepare: newLoadBalancer,
    write: async (s, id, c) => {
      await s.balancing.deleteLoadBalancer(id, { ...c, cascade: true });
      await s.waiter.gone(id, c);
    },
    seen: (s, id) => gone(s.balancing.loadBalancer(id, call)),
    expected: 'not-found',
  },
  'a load balancer without listeners deleted': {
    service: 'loadBalancer',
    method: 'DELETE',
    prepare: newLoadBalancer,
    write: async (s, id, c) => {
      await s.balancing.deleteLoadBalancer(id, c);
      await s.waiter.gone(id, c);
    },
    seen: (s, id) => gone(s.balancing.loadBalancer(id, call)),
    expected: 'not-found',
  },
  'a pool changed': {
    service: 'loadBalancer',
    method: 'PUT',
    prepare: newPool,
    write: (s, id, c) => written(s, () => s.balancing.updatePool(id, { description: 'new' }, c)),
    seen: async (s, id) => (await s.balancing.pool(id, call)).description,
    expected: 'new',
  },
  'a pool deleted': {
    service: 'loadBalancer',
    method: 'DELETE',
    prepare: newPool,
    write: (s, id, c) => written(s, () => s.balancing.deletePool(id, c)),
    seen: (s, id) => gone(s.balancing.pool(id, call)),
    expected: 'not-found',
  },
  'a member changed': {
    service: 'loadBalancer',
    method: 'PUT',
    prepare: newMember,
    write: (s, ids, c) =>
      written(s, () => s.balancing.updateMember(...both(ids), { weight: 7 }, c)),
    seen: async (s, ids) =>
      (await collect(s.balancing.members(both(ids)[0], call))).map(({ weight }) => weight),
    expected: [7],
  },
  'a member deleted': {
    service: 'loadBalancer',
    method: 'DELETE',
    prepare: newMember,
    write: (s, ids, c) => written(s, () => s.balancing.deleteMember(...both(ids), c)),
    seen: (s, ids) => members(s, both(ids)[0]),
    expected: [],
  },
  'a health monitor changed': {
    service: 'loadBalancer',
    method: 'PUT',
    prepare: newMonitor,
    write: (s, id, c) => written(s, () => s.balancing.updateHealthMonitor(id, { delay: 9 }, c)),
    seen: async (s, id) => (await s.balancing.healthMonitor(id, call)).delay,
    expected: 9,
  },
  'a health monitor deleted': {
    service: 'loadBalancer',
    method: 'DELETE',
    prepare: newMonitor,
    write: (s, id, c) => written(s, () => s.balancing.deleteHealthMonitor(id, c)),
    seen: (s, id) => gone(s.balancing.healthMonitor(id, call)),
    expected: 'not-found',
  },
};
