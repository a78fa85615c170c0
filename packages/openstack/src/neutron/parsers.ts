import type { Fields } from '../fields.ts';
import type {
  Extension,
  FixedIp,
  FloatingIp,
  Network,
  Port,
  Quota,
  Router,
  SecurityGroup,
  SecurityGroupRule,
  Subnet,
} from './resources.ts';

export function parseNetwork(fields: Fields): Network {
  return {
    ...common(fields),
    name: fields.text('name'),
    adminStateUp: fields.boolean('admin_state_up', true),
    status: fields.text('status'),
    shared: fields.boolean('shared', false),
    external: fields.boolean('router:external', false),
    portSecurityEnabled: fields.boolean('port_security_enabled', true),
    mtu: fields.optionalNumber('mtu'),
    subnetIds: fields.strings('subnets'),
  };
}

export function parseSubnet(fields: Fields): Subnet {
  return {
    ...common(fields),
    name: fields.text('name'),
    networkId: fields.string('network_id'),
    family: fields.number('ip_version') === 6 ? 6 : 4,
    cidr: fields.prefix('cidr'),
    gateway: fields.optionalAddress('gateway_ip'),
    dhcp: fields.boolean('enable_dhcp', false),
    allocationPools: fields
      .objects('allocation_pools')
      .map((range) => ({ start: range.address('start'), end: range.address('end') })),
  };
}

export function parsePort(fields: Fields): Port {
  return {
    ...common(fields),
    name: fields.text('name'),
    revision: fields.optionalNumber('revision_number'),
    networkId: fields.string('network_id'),
    adminStateUp: fields.boolean('admin_state_up', true),
    status: fields.text('status'),
    macAddress: fields.text('mac_address'),
    deviceOwner: fields.text('device_owner'),
    deviceId: fields.text('device_id'),
    fixedIps: fixedIps(fields, 'fixed_ips'),
    allowedAddressPairs: fields.objects('allowed_address_pairs').map((pair) => {
      const macAddress = pair.optionalString('mac_address');
      const prefix = pair.prefix('ip_address');
      return macAddress === undefined ? { prefix } : { prefix, macAddress };
    }),
    portSecurityEnabled: fields.boolean('port_security_enabled', true),
    securityGroupIds: fields.strings('security_groups'),
  };
}

export function parseFloatingIp(fields: Fields): FloatingIp {
  return {
    ...common(fields),
    address: fields.address('floating_ip_address'),
    floatingNetworkId: fields.string('floating_network_id'),
    status: fields.text('status'),
    portId: fields.optionalString('port_id'),
    fixedIp: fields.optionalAddress('fixed_ip_address'),
    routerId: fields.optionalString('router_id'),
  };
}

export function parseRouter(fields: Fields): Router {
  const gateway = fields.optionalObject('external_gateway_info');
  return {
    ...common(fields),
    name: fields.text('name'),
    adminStateUp: fields.boolean('admin_state_up', true),
    status: fields.text('status'),
    externalNetworkId: gateway?.optionalString('network_id'),
    externalAddresses: gateway === undefined ? [] : fixedIps(gateway, 'external_fixed_ips'),
  };
}

export function parseSecurityGroup(fields: Fields): SecurityGroup {
  return {
    ...common(fields),
    name: fields.text('name'),
    rules: fields.objects('security_group_rules').map(parseSecurityGroupRule),
  };
}

export function parseSecurityGroupRule(fields: Fields): SecurityGroupRule {
  return {
    id: fields.string('id'),
    projectId: projectOf(fields),
    description: fields.text('description'),
    securityGroupId: fields.string('security_group_id'),
    direction: fields.text('direction') === 'egress' ? 'egress' : 'ingress',
    family: fields.text('ethertype') === 'IPv6' ? 6 : 4,
    protocol: fields.optionalString('protocol'),
    portMin: fields.optionalNumber('port_range_min'),
    portMax: fields.optionalNumber('port_range_max'),
    remotePrefix: fields.optionalPrefix('remote_ip_prefix'),
    remoteGroupId: fields.optionalString('remote_group_id'),
  };
}

export function parseQuota(fields: Fields): Quota {
  const limit = (key: string) => {
    const value = fields.optionalNumber(key);
    return value === undefined || value < 0 ? undefined : value;
  };
  return {
    networks: limit('network'),
    subnets: limit('subnet'),
    ports: limit('port'),
    floatingIps: limit('floatingip'),
    routers: limit('router'),
    securityGroups: limit('security_group'),
    securityGroupRules: limit('security_group_rule'),
  };
}

export function parseExtension(fields: Fields): Extension {
  return { alias: fields.string('alias'), name: fields.text('name') };
}

function common(fields: Fields) {
  return {
    id: fields.string('id'),
    projectId: projectOf(fields),
    description: fields.text('description'),
    tags: fields.strings('tags'),
  };
}

/** Mitaka supports only the older of the two names. */
function projectOf(fields: Fields): string {
  return fields.optionalString('project_id') ?? fields.text('tenant_id');
}

function fixedIps(fields: Fields, key: string): FixedIp[] {
  return fields
    .objects(key)
    .map((ip) => ({ subnetId: ip.string('subnet_id'), address: ip.address('ip_address') }));
}
