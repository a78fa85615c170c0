import type {
  HealthMonitorRow,
  ListenerRow,
  LoadBalancerRow,
  MemberRow,
  OctaviaRow,
  PoolRow,
} from './rows.ts';
import type { OctaviaState } from './state.ts';

export type View = Record<string, unknown>;

const reference = ({ id }: { id: string }) => ({ id });

function commonView(row: OctaviaRow): View {
  return {
    id: row.id,
    name: row.name,
    provisioning_status: row.provisioning_status,
    operating_status: row.operating_status,
    admin_state_up: row.admin_state_up,
    project_id: row.project_id,
    tenant_id: row.project_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    tags: row.tags,
  };
}

export function loadBalancerView(state: OctaviaState, row: LoadBalancerRow): View {
  return {
    ...commonView(row),
    description: row.description,
    vip_address: row.vip_address,
    vip_port_id: row.vip_port_id,
    vip_subnet_id: row.vip_subnet_id,
    vip_network_id: row.vip_network_id,
    vip_qos_policy_id: row.vip_qos_policy_id,
    additional_vips: row.additional_vips,
    provider: row.provider,
    flavor_id: row.flavor_id,
    availability_zone: row.availability_zone,
    listeners: state.listenersOf(row.id).map(reference),
    pools: state.poolsOf(row.id).map(reference),
  };
}

/** The answer to a create, with the complete tree. */
export function loadBalancerTreeView(state: OctaviaState, row: LoadBalancerRow): View {
  return {
    ...loadBalancerView(state, row),
    listeners: state.listenersOf(row.id).map((listener) => {
      const { loadbalancers: _parents, ...view } = listenerView(listener);
      return view;
    }),
    pools: state.poolsOf(row.id).map((pool) => {
      const { loadbalancers: _parents, ...view } = poolView(state, pool);
      const members = state.membersOf(pool.id).map(memberView);
      return { ...view, members, healthmonitor: null };
    }),
  };
}

export function listenerView(row: ListenerRow): View {
  return {
    ...commonView(row),
    description: row.description,
    protocol: row.protocol,
    protocol_port: row.protocol_port,
    connection_limit: row.connection_limit,
    default_tls_container_ref: row.default_tls_container_ref,
    sni_container_refs: row.sni_container_refs,
    default_pool_id: row.default_pool_id,
    l7policies: [],
    insert_headers: row.insert_headers,
    loadbalancers: [{ id: row.loadbalancer_id }],
    timeout_client_data: row.timeout_client_data,
    timeout_member_connect: row.timeout_member_connect,
    timeout_member_data: row.timeout_member_data,
    timeout_tcp_inspect: row.timeout_tcp_inspect,
    client_ca_tls_container_ref: null,
    client_authentication: 'NONE',
    client_crl_container_ref: null,
    allowed_cidrs: row.allowed_cidrs,
    tls_ciphers: null,
    tls_versions: null,
    alpn_protocols: null,
  };
}

export function poolView(state: OctaviaState, row: PoolRow): View {
  const monitor = state.monitorOf(row.id);
  return {
    ...commonView(row),
    description: row.description,
    protocol: row.protocol,
    lb_algorithm: row.lb_algorithm,
    session_persistence: row.session_persistence,
    loadbalancers: [{ id: row.loadbalancer_id }],
    listeners: state.listenersWith(row.id).map(reference),
    members: state.membersOf(row.id).map(reference),
    ...(monitor === undefined ? {} : { healthmonitor_id: monitor.id }),
    tls_container_ref: null,
    ca_tls_container_ref: null,
    crl_container_ref: null,
    tls_enabled: row.tls_enabled,
    tls_ciphers: null,
    tls_versions: null,
    alpn_protocols: null,
  };
}

export function memberView(row: MemberRow): View {
  return {
    ...commonView(row),
    address: row.address,
    protocol_port: row.protocol_port,
    weight: row.weight,
    backup: row.backup,
    subnet_id: row.subnet_id,
    monitor_address: row.monitor_address,
    monitor_port: row.monitor_port,
  };
}

export function healthMonitorView(row: HealthMonitorRow): View {
  return {
    ...commonView(row),
    type: row.type,
    delay: row.delay,
    timeout: row.timeout,
    max_retries: row.max_retries,
    max_retries_down: row.max_retries_down,
    http_method: row.http_method,
    url_path: row.url_path,
    expected_codes: row.expected_codes,
    http_version: row.http_version,
    domain_name: row.domain_name,
    pools: [{ id: row.pool_id }],
  };
}
