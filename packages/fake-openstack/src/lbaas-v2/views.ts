import type {
  HealthMonitorRow,
  ListenerRow,
  LoadBalancerRow,
  MemberRow,
  PoolRow,
} from '../octavia/rows.ts';
import type { OctaviaState } from '../octavia/state.ts';
import type { Values } from './wire.ts';

const reference = ({ id }: { id: string }) => ({ id });

/** Only load balancers have a status in this API. */
const common = (row: { id: string; project_id: string; admin_state_up: boolean }): Values => ({
  id: row.id,
  tenant_id: row.project_id,
  admin_state_up: row.admin_state_up,
});

export function loadBalancerView(state: OctaviaState, row: LoadBalancerRow): Values {
  return {
    ...common(row),
    name: row.name,
    description: row.description,
    vip_subnet_id: row.vip_subnet_id,
    vip_address: row.vip_address,
    vip_port_id: row.vip_port_id,
    provider: row.provider === 'amphora' ? 'haproxy' : row.provider,
    provisioning_status: row.provisioning_status,
    operating_status: row.operating_status,
    listeners: state.listenersOf(row.id).map(reference),
    pools: state.poolsOf(row.id).map(reference),
  };
}

export function listenerView(row: ListenerRow): Values {
  return {
    ...common(row),
    name: row.name,
    description: row.description,
    protocol: row.protocol,
    protocol_port: row.protocol_port,
    connection_limit: row.connection_limit,
    default_pool_id: row.default_pool_id,
    default_tls_container_ref: row.default_tls_container_ref,
    sni_container_refs: row.sni_container_refs,
    loadbalancers: [{ id: row.loadbalancer_id }],
  };
}

export function poolView(state: OctaviaState, row: PoolRow): Values {
  return {
    ...common(row),
    name: row.name,
    description: row.description,
    protocol: row.protocol,
    lb_algorithm: row.lb_algorithm,
    session_persistence: row.session_persistence,
    healthmonitor_id: state.monitorOf(row.id)?.id ?? null,
    listeners: state.listenersWith(row.id).map(reference),
    loadbalancers: [{ id: row.loadbalancer_id }],
    members: state.membersOf(row.id).map(reference),
  };
}

export function memberView(row: MemberRow): Values {
  return {
    ...common(row),
    name: row.name,
    address: row.address,
    protocol_port: row.protocol_port,
    weight: row.weight,
    subnet_id: row.subnet_id,
  };
}

export function healthMonitorView(row: HealthMonitorRow): Values {
  const isHttp = row.type === 'HTTP' || row.type === 'HTTPS';
  return {
    ...common(row),
    name: row.name,
    type: row.type,
    delay: row.delay,
    timeout: row.timeout,
    max_retries: row.max_retries,
    pools: [{ id: row.pool_id }],
    ...(isHttp
      ? { http_method: row.http_method, url_path: row.url_path, expected_codes: row.expected_codes }
      : {}),
  };
}
