import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import type { CallOptions } from '../../../packages/openstack/src/call.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { type Change, gone } from './fault-change.ts';
import { call, type Stage } from './fault-stage.ts';

const newPort = async (s: Stage, name: string) =>
  (await s.neutron.ports.create({ name, networkId: s.networkId }, call)).id;
const newTaggedPort = async (s: Stage, name: string) => {
  const id = await newPort(s, name);
  await s.neutron.ports.replaceTags(id, ['old', 'other'], call);
  return id;
};
const tagsOf = async (s: Stage, id: string) =>
  [...(await s.neutron.ports.get(id, call)).tags].sort();
const newFloatingIp = async (s: Stage, description: string, portId?: string) => {
  const spec = { description, floatingNetworkId: s.externalId };
  const tied = portId === undefined ? spec : { ...spec, portId };
  return (await s.neutron.floatingIps.create(tied, call)).id;
};
const newNetwork = async (s: Stage, name: string) =>
  (await s.neutron.networks.create({ name }, call)).id;
const newSubnet = async (s: Stage, name: string) => {
  const networkId = await newNetwork(s, name);
  const cidr = parsePrefix('192.168.7.0/24');
  return (await s.neutron.subnets.create({ name, networkId, cidr }, call)).id;
};
const newRouter = async (s: Stage, name: string) => {
  const subnetId = await newSubnet(s, name);
  const router = await s.neutron.routers.create({ name }, call);
  return `${router.id} ${subnetId}`;
};
const both = (ids: string) => ids.split(' ') as [string, string];
const interfaces = async (s: Stage, ids: string) =>
  (await collect(s.neutron.ports.list({ deviceId: both(ids)[0] }, call))).length;

interface Described {
  get(id: string, call: CallOptions): Promise<{ readonly description: string }>;
  update(id: string, change: { description: string }, call: CallOptions): Promise<unknown>;
  delete(id: string, call: CallOptions): Promise<unknown>;
}

/** The two writes of every kind with a description. */
function changedAndDeleted(
  what: string,
  of: (stage: Stage) => Described,
  prepare: Change['prepare'],
): Record<string, Change> {
  return {
    [`${what} changed`]: {
      service: 'network',
      method: 'PUT',
      prepare,
      write: (s, id, c) => of(s).update(id, { description: 'new' }, c),
      seen: async (s, id) => (await of(s).get(id, call)).description,
      expected: 'new',
    },
    [`${what} deleted`]: {
      service: 'network',
      method: 'DELETE',
      prepare,
      write: (s, id, c) => of(s).delete(id, c),
      seen: (s, id) => gone(of(s).get(id, call)),
      expected: 'not-found',
    },
  };
}

export const neutronChanges: Record<string, Change> = {
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
      const id = await newFloatingIp(s, description);
      return `${id} ${await newPort(s, description)}`;
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
  'a tag added': {
    service: 'network',
    method: 'PUT',
    prepare: newTaggedPort,
    write: (s, id, c) => s.neutron.ports.addTag(id, 'new', c),
    seen: tagsOf,
    expected: ['new', 'old', 'other'],
  },
  'a tag taken away': {
    service: 'network',
    method: 'PUT',
    prepare: newTaggedPort,
    write: (s, id, c) => s.neutron.ports.removeTag(id, 'old', c),
    seen: tagsOf,
    expected: ['other'],
  },
  'a floating IP taken off its port': {
    service: 'network',
    method: 'PUT',
    prepare: async (s, description) => {
      const portId = await newPort(s, description);
      return newFloatingIp(s, description, portId);
    },
    write: (s, id, c) => s.neutron.floatingIps.dissociate(id, c),
    seen: async (s, id) => (await s.neutron.floatingIps.get(id, call)).portId,
    expected: undefined,
  },
  'a floating IP deleted': {
    service: 'network',
    method: 'DELETE',
    prepare: (s, description) => newFloatingIp(s, description),
    write: (s, id, c) => s.neutron.floatingIps.delete(id, c),
    seen: (s, id) => gone(s.neutron.floatingIps.get(id, call)),
    expected: 'not-found',
  },
  'a rule deleted': {
    service: 'network',
    method: 'DELETE',
    prepare: async (s, name) => {
      const { id: securityGroupId } = await s.neutron.securityGroups.create({ name }, call);
      const spec = { securityGroupId, direction: 'ingress', family: 4, protocol: 'tcp' } as const;
      return (await s.neutron.securityGroupRules.create(spec, call)).id;
    },
    write: (s, id, c) => s.neutron.securityGroupRules.delete(id, c),
    seen: (s, id) => gone(s.neutron.securityGroupRules.get(id, call)),
    expected: 'not-found',
  },
  'a quota set': {
    service: 'network',
    method: 'PUT',
    prepare: async (s) => {
      await s.administrator.setQuota(s.projectId, { securityGroupRules: 1_000 }, call);
      return s.projectId;
    },
    write: (s, id, c) => s.administrator.setQuota(id, { securityGroupRules: 1_234 }, c),
    seen: async (s, id) => (await s.administrator.quota(id, call)).securityGroupRules,
    expected: 1_234,
  },
  ...changedAndDeleted('a network', ({ neutron }) => neutron.networks, newNetwork),
  ...changedAndDeleted('a subnet', ({ neutron }) => neutron.subnets, newSubnet),
  ...changedAndDeleted(
    'a router',
    ({ neutron }) => neutron.routers,
    async (s, name) => (await s.neutron.routers.create({ name }, call)).id,
  ),
  ...changedAndDeleted(
    'a security group',
    ({ neutron }) => neutron.securityGroups,
    async (s, name) => (await s.neutron.securityGroups.create({ name }, call)).id,
  ),
};
