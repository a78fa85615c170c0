import {
  address,
  anything,
  boolean,
  listOf,
  nullable,
  objectOf,
  oneOf,
  text,
  uuid,
  whole,
  type Fields,
} from './fields.ts';

/** The wire formats of objects in create and update requests. */

const common: Fields = {
  name: { read: nullable(text), in: 'both' },
  admin_state_up: { read: boolean, in: 'both' },
  tags: { read: listOf(text), in: 'both' },
  project_id: { read: text, in: 'post' },
  tenant_id: { read: text, in: 'post' },
};

const port = whole(1, 65_535);

const additionalVipFields: Fields = {
  subnet_id: { read: uuid, in: 'post', required: true },
  ip_address: { read: address, in: 'post' },
};
const additionalVip = objectOf(additionalVipFields, 'load_balancer.loadbalancer');
const timeout = whole(0, 31_536_000_000);

export const loadBalancerFields: Fields = {
  ...common,
  description: { read: nullable(text), in: 'both' },
  provider: { read: nullable(text), in: 'post' },
  flavor_id: { read: nullable(uuid), in: 'post' },
  availability_zone: { read: nullable(text), in: 'post' },
  vip_address: { read: address, in: 'post' },
  vip_port_id: { read: uuid, in: 'post' },
  vip_subnet_id: { read: uuid, in: 'post' },
  vip_network_id: { read: uuid, in: 'post' },
  additional_vips: { read: listOf(additionalVip), in: 'post' },
  vip_qos_policy_id: { read: nullable(uuid), in: 'both' },
  listeners: { read: anything, in: 'post' },
  pools: { read: anything, in: 'post' },
};

const listenerCommon: Fields = {
  ...common,
  description: { read: nullable(text), in: 'both' },
  protocol: {
    read: oneOf('TERMINATED_HTTPS', 'TCP', 'UDP', 'HTTP', 'PROMETHEUS', 'SCTP', 'HTTPS'),
    in: 'post',
    required: true,
  },
  protocol_port: { read: port, in: 'post', required: true },
  connection_limit: { read: nullable(whole(-1, 2_147_483_647)), in: 'both' },
  timeout_client_data: { read: nullable(timeout), in: 'both' },
  timeout_member_connect: { read: nullable(timeout), in: 'both' },
  timeout_member_data: { read: nullable(timeout), in: 'both' },
  timeout_tcp_inspect: { read: nullable(timeout), in: 'both' },
  insert_headers: { read: nullable(anything), in: 'both' },
  allowed_cidrs: { read: nullable(listOf(text)), in: 'both' },
  default_tls_container_ref: { read: nullable(text), in: 'both' },
  sni_container_refs: { read: nullable(listOf(text)), in: 'both' },
};

export const listenerFields: Fields = {
  ...listenerCommon,
  loadbalancer_id: { read: uuid, in: 'post', required: true },
  default_pool_id: { read: nullable(uuid), in: 'both' },
};

export const listenerTreeFields: Fields = {
  ...listenerCommon,
  default_pool: { read: anything, in: 'post' },
};

const poolCommon: Fields = {
  ...common,
  description: { read: nullable(text), in: 'both' },
  protocol: {
    read: oneOf('TCP', 'UDP', 'HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'SCTP'),
    in: 'post',
    required: true,
  },
  lb_algorithm: {
    read: oneOf('LEAST_CONNECTIONS', 'ROUND_ROBIN', 'SOURCE_IP', 'SOURCE_IP_PORT'),
    in: 'both',
    required: true,
  },
  session_persistence: { read: nullable(anything), in: 'both' },
  tls_enabled: { read: boolean, in: 'both' },
};

export const poolFields: Fields = {
  ...poolCommon,
  loadbalancer_id: { read: uuid, in: 'post' },
  listener_id: { read: uuid, in: 'post' },
};

export const poolTreeFields: Fields = {
  ...poolCommon,
  members: { read: anything, in: 'post' },
  healthmonitor: { read: anything, in: 'post' },
};

export const memberFields: Fields = {
  ...common,
  address: { read: address, in: 'post', required: true },
  protocol_port: { read: port, in: 'post', required: true },
  weight: { read: whole(0, 256), in: 'both' },
  backup: { read: boolean, in: 'both' },
  subnet_id: { read: nullable(uuid), in: 'post' },
  monitor_address: { read: nullable(address), in: 'both' },
  monitor_port: { read: nullable(port), in: 'both' },
};

const monitorCommon: Fields = {
  ...common,
  type: {
    read: oneOf('SCTP', 'TCP', 'HTTP', 'TLS-HELLO', 'UDP-CONNECT', 'PING', 'HTTPS'),
    in: 'post',
    required: true,
  },
  delay: { read: whole(0, 2_147_483_647), in: 'both', required: true },
  timeout: { read: whole(0, 2_147_483_647), in: 'both', required: true },
  max_retries: { read: whole(1, 10), in: 'both', required: true },
  max_retries_down: { read: whole(1, 10), in: 'both' },
  http_method: { read: nullable(text), in: 'both' },
  url_path: { read: nullable(text), in: 'both' },
  expected_codes: { read: nullable(text), in: 'both' },
  http_version: { read: nullable(anything), in: 'both' },
  domain_name: { read: nullable(text), in: 'both' },
};

export const healthMonitorFields: Fields = {
  ...monitorCommon,
  pool_id: { read: uuid, in: 'post', required: true },
};

export const healthMonitorTreeFields: Fields = monitorCommon;
