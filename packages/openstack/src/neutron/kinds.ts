import { familyOf } from '@causeway/base/address/address';
import { formatPrefix, prefixFamily, type Prefix } from '@causeway/base/address/prefix';
import type { Identity, Kind } from '../kind.ts';
import { route } from '../route.ts';
import type { WireTable } from '../wire.ts';
import {
  parseFloatingIp,
  parseNetwork,
  parsePort,
  parseRouter,
  parseSecurityGroup,
  parseSecurityGroupRule,
  parseSubnet,
} from './parsers.ts';
import type * as resource from './resources.ts';
import type * as spec from './specs.ts';

/** `tenant_id` and not `project_id`: every release accepts it, Mitaka accepts nothing else. */
const projectId = 'tenant_id';

const commonFilter: WireTable<spec.CommonFilter> = {
  name: 'name',
  description: 'description',
  projectId,
  tags: (tags) => ({ tags: tags.join(',') }),
  tagsAny: (tags) => ({ 'tags-any': tags.join(',') }),
  notTags: (tags) => ({ 'not-tags': tags.join(',') }),
};

/** By the field that the caller keeps unique among the objects of its project. */
function byUniqueField<Resource, Filter extends object>(
  wanted: { name?: string; description?: string; projectId?: string },
  by: 'name' | 'description' | undefined,
  narrowed: object,
): Identity<Resource, Filter> {
  const value = by === undefined ? undefined : wanted[by];
  if (by === undefined || value === undefined || value === '') return undefined;
  const project = wanted.projectId === undefined ? {} : { projectId: wanted.projectId };
  const filter = { ...narrowed, ...project, [by]: value } as Filter;
  return { filter, isSame: () => true };
}

const networkChange: WireTable<spec.NetworkChange> = {
  name: 'name',
  description: 'description',
  adminStateUp: 'admin_state_up',
  portSecurityEnabled: 'port_security_enabled',
};

export const networkKind: Kind<
  resource.Network,
  spec.NetworkSpec,
  spec.NetworkChange,
  spec.NetworkFilter
> = {
  route: route`/networks`,
  singular: 'network',
  plural: 'networks',
  parse: parseNetwork,
  change: networkChange,
  spec: {
    ...networkChange,
    projectId,
    shared: 'shared',
    external: 'router:external',
    physical: ({ type, network, segment }) => ({
      'provider:network_type': type,
      'provider:physical_network': network,
      ...(segment === undefined ? {} : { 'provider:segmentation_id': segment }),
    }),
  },
  filter: { ...commonFilter, external: 'router:external' },
  identity: (wanted, by) => byUniqueField(wanted, by, {}),
};

const subnetChange: WireTable<spec.SubnetChange> = {
  name: 'name',
  description: 'description',
  gateway: 'gateway_ip',
  dhcp: 'enable_dhcp',
  allocationPools: 'allocation_pools',
};

export const subnetKind: Kind<
  resource.Subnet,
  spec.SubnetSpec,
  spec.SubnetChange,
  spec.SubnetFilter
> = {
  route: route`/subnets`,
  singular: 'subnet',
  plural: 'subnets',
  parse: parseSubnet,
  change: subnetChange,
  spec: {
    ...subnetChange,
    projectId,
    networkId: 'network_id',
    cidr: (cidr) => ({ cidr: formatPrefix(cidr), ip_version: prefixFamily(cidr) }),
  },
  filter: { ...commonFilter, networkId: 'network_id', family: 'ip_version' },
  identity: (wanted, by) => byUniqueField(wanted, by, { networkId: wanted.networkId }),
};

const portChange: WireTable<spec.PortChange> = {
  name: 'name',
  description: 'description',
  adminStateUp: 'admin_state_up',
  fixedIps: (ips) => ({
    fixed_ips: ips.map(({ subnetId, address }) => ({
      ...(subnetId === undefined ? {} : { subnet_id: subnetId }),
      ...(address === undefined ? {} : { ip_address: address }),
    })),
  }),
  allowedAddressPairs: (pairs) => ({
    allowed_address_pairs: pairs.map(({ prefix, macAddress }) => ({
      ip_address: addressOrPrefix(prefix),
      ...(macAddress === undefined ? {} : { mac_address: macAddress }),
    })),
  }),
  portSecurityEnabled: 'port_security_enabled',
  securityGroupIds: 'security_groups',
  deviceOwner: 'device_owner',
  deviceId: 'device_id',
};

export const portKind: Kind<resource.Port, spec.PortSpec, spec.PortChange, spec.PortFilter> = {
  route: route`/ports`,
  singular: 'port',
  plural: 'ports',
  parse: parsePort,
  change: portChange,
  spec: { ...portChange, projectId, networkId: 'network_id' },
  filter: {
    ...commonFilter,
    networkId: 'network_id',
    deviceOwner: 'device_owner',
    deviceId: 'device_id',
    macAddress: 'mac_address',
    fixedIp: ({ address, subnetId }) => ({
      fixed_ips: [
        ...(address === undefined ? [] : [`ip_address=${address}`]),
        ...(subnetId === undefined ? [] : [`subnet_id=${subnetId}`]),
      ],
    }),
  },
  identity: (wanted, by) => byUniqueField(wanted, by, { networkId: wanted.networkId }),
};

const floatingIpChange: WireTable<spec.FloatingIpChange> = {
  description: 'description',
  portId: 'port_id',
  fixedIp: 'fixed_ip_address',
};

export const floatingIpKind: Kind<
  resource.FloatingIp,
  spec.FloatingIpSpec,
  spec.FloatingIpChange,
  spec.FloatingIpFilter
> = {
  route: route`/floatingips`,
  singular: 'floatingip',
  plural: 'floatingips',
  parse: parseFloatingIp,
  change: floatingIpChange,
  spec: {
    ...floatingIpChange,
    projectId,
    floatingNetworkId: 'floating_network_id',
    subnetId: 'subnet_id',
    address: 'floating_ip_address',
  },
  filter: {
    ...commonFilter,
    address: 'floating_ip_address',
    floatingNetworkId: 'floating_network_id',
    portId: 'port_id',
    status: 'status',
  },
  identity: (wanted, by) =>
    by === 'description'
      ? byUniqueField(wanted, by, { floatingNetworkId: wanted.floatingNetworkId })
      : undefined,
};

const routerChange: WireTable<spec.RouterChange> = {
  name: 'name',
  description: 'description',
  adminStateUp: 'admin_state_up',
  externalNetworkId: (network) => ({
    external_gateway_info: network === null ? {} : { network_id: network },
  }),
};

export const routerKind: Kind<
  resource.Router,
  spec.RouterSpec,
  spec.RouterChange,
  spec.RouterFilter
> = {
  route: route`/routers`,
  singular: 'router',
  plural: 'routers',
  parse: parseRouter,
  change: routerChange,
  spec: { ...routerChange, projectId },
  filter: commonFilter,
  identity: (wanted, by) => byUniqueField(wanted, by, {}),
};

const securityGroupChange: WireTable<spec.SecurityGroupChange> = {
  name: 'name',
  description: 'description',
};

export const securityGroupKind: Kind<
  resource.SecurityGroup,
  spec.SecurityGroupSpec,
  spec.SecurityGroupChange,
  spec.SecurityGroupFilter
> = {
  route: route`/security-groups`,
  singular: 'security_group',
  plural: 'security_groups',
  parse: parseSecurityGroup,
  change: securityGroupChange,
  spec: { ...securityGroupChange, projectId },
  filter: commonFilter,
  identity: (wanted, by) => byUniqueField(wanted, by, {}),
};

export const securityGroupRuleKind: Kind<
  resource.SecurityGroupRule,
  spec.SecurityGroupRuleSpec,
  Pick<spec.SecurityGroupRuleSpec, 'description'>,
  spec.SecurityGroupRuleFilter
> = {
  route: route`/security-group-rules`,
  singular: 'security_group_rule',
  plural: 'security_group_rules',
  parse: parseSecurityGroupRule,
  change: { description: 'description' },
  spec: {
    projectId,
    securityGroupId: 'security_group_id',
    direction: 'direction',
    family: (family) => ({ ethertype: `IPv${family}` }),
    protocol: 'protocol',
    portMin: 'port_range_min',
    portMax: 'port_range_max',
    remotePrefix: (prefix) => ({ remote_ip_prefix: formatPrefix(prefix) }),
    remoteGroupId: 'remote_group_id',
    description: 'description',
  },
  filter: { projectId, securityGroupId: 'security_group_id', direction: 'direction' },
  // Neutron allows a rule once per group, so its contents identify it.
  identity: (wanted) => ({
    filter: { securityGroupId: wanted.securityGroupId, direction: wanted.direction },
    isSame: (rule) =>
      rule.family === wanted.family &&
      rule.protocol === wanted.protocol &&
      rule.portMin === wanted.portMin &&
      rule.portMax === wanted.portMax &&
      rule.remoteGroupId === wanted.remoteGroupId &&
      samePrefix(rule.remotePrefix, wanted.remotePrefix),
  }),
};

/** No prefix and the whole address space are equal for Neutron, which may answer with either. */
function samePrefix(left: Prefix | undefined, right: Prefix | undefined): boolean {
  const text = (prefix: Prefix | undefined) =>
    prefix === undefined || prefix.length === 0 ? 'any' : formatPrefix(prefix);
  return text(left) === text(right);
}

function addressOrPrefix(prefix: Prefix): string {
  const whole = familyOf(prefix.address) === 4 ? 32 : 128;
  return prefix.length === whole ? prefix.address : formatPrefix(prefix);
}
