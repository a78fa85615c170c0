import { toWire, type WireTable } from '../wire.ts';
import type {
  HealthMonitorChange,
  HealthMonitorSettings,
  HealthMonitorSpec,
  ListenerChange,
  ListenerSpec,
  ListenerTreeSpec,
  LoadBalancerChange,
  LoadBalancerSpec,
  MemberChange,
  MemberSpec,
  PoolChange,
  PoolSpec,
  PoolTreeSpec,
} from './specs.ts';

// JSON fields of specs, the same in both services except for those that LBaaS v2 lacks.

export const loadBalancerChange: WireTable<LoadBalancerChange> = {
  name: 'name',
  description: 'description',
  adminStateUp: 'admin_state_up',
  tags: 'tags',
  vipSecurityGroupIds: 'vip_sg_ids',
};

export function loadBalancerSpec(projectKey: string): WireTable<LoadBalancerSpec> {
  return {
    ...loadBalancerChange,
    projectId: projectKey,
    vipSubnetId: 'vip_subnet_id',
    vipNetworkId: 'vip_network_id',
    vipPortId: 'vip_port_id',
    vipAddress: 'vip_address',
    additionalVips: (vips) => ({
      additional_vips: vips.map(({ subnetId, address }) => ({
        subnet_id: subnetId,
        ...(address === undefined ? {} : { ip_address: address }),
      })),
    }),
    provider: 'provider',
    flavorId: 'flavor_id',
    availabilityZone: 'availability_zone',
    listeners: (listeners) => ({
      listeners: listeners.map((listener) => toWire(listenerTree, listener)),
    }),
  };
}

export const listenerChange: WireTable<ListenerChange> = {
  name: 'name',
  description: 'description',
  adminStateUp: 'admin_state_up',
  defaultPoolId: 'default_pool_id',
  connectionLimit: 'connection_limit',
  timeouts: ({ clientData, memberConnect, memberData, tcpInspect }) => ({
    ...(clientData === undefined ? {} : { timeout_client_data: clientData }),
    ...(memberConnect === undefined ? {} : { timeout_member_connect: memberConnect }),
    ...(memberData === undefined ? {} : { timeout_member_data: memberData }),
    ...(tcpInspect === undefined ? {} : { timeout_tcp_inspect: tcpInspect }),
  }),
  allowedCidrs: 'allowed_cidrs',
  insertHeaders: 'insert_headers',
  tlsContainerRef: 'default_tls_container_ref',
  tags: 'tags',
};

export const listenerSpec: WireTable<ListenerSpec> = {
  ...listenerChange,
  loadBalancerId: 'loadbalancer_id',
  protocol: 'protocol',
  port: 'protocol_port',
};

const { defaultPoolId: _pool, ...listenerWithoutPool } = listenerChange;

const listenerTree: WireTable<ListenerTreeSpec> = {
  ...listenerWithoutPool,
  protocol: 'protocol',
  port: 'protocol_port',
  defaultPool: (pool) => ({ default_pool: toWire(poolTree, pool) }),
};

export const poolChange: WireTable<PoolChange> = {
  name: 'name',
  description: 'description',
  adminStateUp: 'admin_state_up',
  algorithm: 'lb_algorithm',
  sessionPersistence: (persistence) => ({
    session_persistence:
      persistence === null
        ? null
        : {
            type: persistence.type,
            ...(persistence.cookieName === undefined
              ? {}
              : { cookie_name: persistence.cookieName }),
          },
  }),
  tags: 'tags',
};

export const poolSpec: WireTable<PoolSpec> = {
  ...poolChange,
  protocol: 'protocol',
  parent: (parent) =>
    'listenerId' in parent
      ? { listener_id: parent.listenerId }
      : { loadbalancer_id: parent.loadBalancerId },
};

export const memberChange: WireTable<MemberChange> = {
  name: 'name',
  adminStateUp: 'admin_state_up',
  weight: 'weight',
  backup: 'backup',
  monitorAddress: 'monitor_address',
  monitorPort: 'monitor_port',
  tags: 'tags',
};

export const memberSpec: WireTable<MemberSpec> = {
  ...memberChange,
  address: 'address',
  port: 'protocol_port',
  subnetId: 'subnet_id',
};

export const healthMonitorChange: WireTable<HealthMonitorChange> = {
  name: 'name',
  adminStateUp: 'admin_state_up',
  delay: 'delay',
  timeout: 'timeout',
  maxRetries: 'max_retries',
  maxRetriesDown: 'max_retries_down',
  urlPath: 'url_path',
  httpMethod: 'http_method',
  expectedCodes: 'expected_codes',
  domainName: 'domain_name',
  tags: 'tags',
};

const healthMonitorSettings: WireTable<HealthMonitorSettings> = {
  ...healthMonitorChange,
  type: 'type',
};

export const healthMonitorSpec: WireTable<HealthMonitorSpec> = {
  ...healthMonitorSettings,
  poolId: 'pool_id',
};

const poolTree: WireTable<PoolTreeSpec> = {
  ...poolChange,
  protocol: 'protocol',
  members: (members) => ({ members: members.map((member) => toWire(memberSpec, member)) }),
  healthMonitor: (monitor) => ({ healthmonitor: toWire(healthMonitorSettings, monitor) }),
};
