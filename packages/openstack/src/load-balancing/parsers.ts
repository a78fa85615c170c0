import type { Fields } from '../fields.ts';
import type {
  HealthMonitor,
  Listener,
  ListenerTimeouts,
  LoadBalancer,
  Member,
  MemberStatus,
  OperatingStatus,
  Pool,
  PoolStatus,
  ProvisioningStatus,
  SessionPersistence,
  StatusNode,
  StatusTree,
} from './resources.ts';

// Parsers for both services: fields that LBaaS v2 lacks are optional.

export function parseLoadBalancer(fields: Fields): LoadBalancer {
  return {
    ...common(fields),
    description: fields.text('description'),
    provider: fields.optionalString('provider'),
    vipAddress: fields.optionalAddress('vip_address'),
    vipPortId: fields.optionalString('vip_port_id'),
    vipSubnetId: fields.optionalString('vip_subnet_id'),
    vipNetworkId: fields.optionalString('vip_network_id'),
    additionalVips: fields.objects('additional_vips').map((vip) => ({
      subnetId: vip.string('subnet_id'),
      ...optional('address', vip.optionalAddress('ip_address')),
    })),
    listenerIds: fields.ids('listeners'),
    poolIds: fields.ids('pools'),
    flavorId: fields.optionalString('flavor_id'),
    availabilityZone: fields.optionalString('availability_zone'),
  };
}

export function parseListener(fields: Fields): Listener {
  const cidrs = fields.strings('allowed_cidrs');
  return {
    ...common(fields),
    description: fields.text('description'),
    loadBalancerId: fields.ids('loadbalancers')[0] ?? fields.optionalString('loadbalancer_id'),
    protocol: fields.string('protocol'),
    port: fields.port('protocol_port'),
    defaultPoolId: fields.optionalString('default_pool_id'),
    connectionLimit: fields.optionalNumber('connection_limit'),
    timeouts: parseTimeouts(fields),
    allowedCidrs: cidrs.length === 0 ? undefined : cidrs,
    insertHeaders: fields.stringMap('insert_headers'),
    tlsContainerRef: fields.optionalString('default_tls_container_ref'),
  };
}

function parseTimeouts(fields: Fields): ListenerTimeouts {
  return {
    ...optional('clientData', fields.optionalNumber('timeout_client_data')),
    ...optional('memberConnect', fields.optionalNumber('timeout_member_connect')),
    ...optional('memberData', fields.optionalNumber('timeout_member_data')),
    ...optional('tcpInspect', fields.optionalNumber('timeout_tcp_inspect')),
  };
}

export function parsePool(fields: Fields): Pool {
  return {
    ...common(fields),
    description: fields.text('description'),
    loadBalancerId: fields.ids('loadbalancers')[0] ?? fields.optionalString('loadbalancer_id'),
    listenerIds: fields.ids('listeners'),
    memberIds: fields.ids('members'),
    healthMonitorId: fields.optionalString('healthmonitor_id'),
    protocol: fields.string('protocol'),
    algorithm: fields.string('lb_algorithm'),
    sessionPersistence: parseSessionPersistence(fields.optionalObject('session_persistence')),
    tlsEnabled: fields.boolean('tls_enabled', false),
  };
}

function parseSessionPersistence(fields: Fields | undefined): SessionPersistence | undefined {
  const type = fields?.text('type');
  if (type !== 'SOURCE_IP' && type !== 'HTTP_COOKIE' && type !== 'APP_COOKIE') return undefined;
  return { type, ...optional('cookieName', fields?.optionalString('cookie_name')) };
}

export function parseMember(fields: Fields): Member {
  return {
    ...common(fields),
    address: fields.address('address'),
    port: fields.port('protocol_port'),
    subnetId: fields.optionalString('subnet_id'),
    weight: fields.optionalNumber('weight') ?? 1,
    backup: fields.boolean('backup', false),
    monitorAddress: fields.optionalAddress('monitor_address'),
    monitorPort: fields.optionalPort('monitor_port'),
  };
}

export function parseHealthMonitor(fields: Fields): HealthMonitor {
  return {
    ...common(fields),
    poolId: fields.ids('pools')[0] ?? fields.optionalString('pool_id'),
    type: fields.string('type'),
    delay: fields.number('delay'),
    timeout: fields.number('timeout'),
    maxRetries: fields.number('max_retries'),
    maxRetriesDown: fields.optionalNumber('max_retries_down'),
    urlPath: fields.optionalString('url_path'),
    httpMethod: fields.optionalString('http_method'),
    expectedCodes: fields.optionalString('expected_codes'),
    domainName: fields.optionalString('domain_name'),
  };
}

export function parseStatusTree(fields: Fields): StatusTree {
  const tree = fields.object('loadbalancer');
  return {
    ...parseNode(tree),
    listeners: tree.objects('listeners').map((listener) => ({
      ...parseNode(listener),
      pools: listener.objects('pools').map(parsePoolStatus),
    })),
    pools: tree.objects('pools').map(parsePoolStatus),
  };
}

function parsePoolStatus(fields: Fields): PoolStatus {
  // Octavia writes health_monitor, LBaaS v2 healthmonitor; an empty object means none in both.
  const monitor = fields.optionalObject('health_monitor') ?? fields.optionalObject('healthmonitor');
  return {
    ...parseNode(fields),
    members: fields.objects('members').map(parseMemberStatus),
    healthMonitor: monitor?.optionalString('id') === undefined ? undefined : parseNode(monitor),
  };
}

function parseMemberStatus(fields: Fields): MemberStatus {
  return {
    ...parseNode(fields),
    address: fields.address('address'),
    port: fields.port('protocol_port'),
  };
}

function parseNode(fields: Fields): StatusNode {
  return {
    id: fields.string('id'),
    name: fields.text('name'),
    provisioningStatus: provisioningStatus(fields),
    operatingStatus: operatingStatus(fields),
  };
}

function common(fields: Fields) {
  return {
    id: fields.string('id'),
    name: fields.text('name'),
    projectId: fields.optionalString('project_id') ?? fields.text('tenant_id'),
    adminStateUp: fields.boolean('admin_state_up', true),
    provisioningStatus: provisioningStatus(fields),
    operatingStatus: operatingStatus(fields),
    tags: fields.strings('tags'),
  };
}

const provisioningStatuses = new Set<string>([
  'ACTIVE',
  'DELETED',
  'ERROR',
  'PENDING_CREATE',
  'PENDING_UPDATE',
  'PENDING_DELETE',
] satisfies ProvisioningStatus[]);

const operatingStatuses = new Set<string>([
  'ONLINE',
  'OFFLINE',
  'DEGRADED',
  'DISABLED',
  'ERROR',
  'NO_MONITOR',
  'DRAINING',
] satisfies OperatingStatus[]);

function provisioningStatus(fields: Fields): ProvisioningStatus {
  const text = fields.text('provisioning_status');
  return provisioningStatuses.has(text) ? (text as ProvisioningStatus) : 'UNKNOWN';
}

function operatingStatus(fields: Fields): OperatingStatus {
  const text = fields.text('operating_status');
  return operatingStatuses.has(text) ? (text as OperatingStatus) : 'UNKNOWN';
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]: Value });
}
