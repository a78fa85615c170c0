import { tryParseAddress } from '@causeway/base/address/address';
import { checkOvnListener, checkOvnMember, checkOvnMonitor, checkOvnPool } from './ovn.ts';
import { conflict, unsupportedOption, validationFailure } from './refusals.ts';
import type { HealthMonitorRow, ListenerRow, LoadBalancerRow, MemberRow, PoolRow } from './rows.ts';
import type { OctaviaState } from './state.ts';

/** Creates rows from parsed values and checks the rules between objects. */

type Values = Readonly<Record<string, unknown>>;

function value<T>(values: Values, name: string, fallback: T): T {
  return (values[name] as T | null | undefined) ?? fallback;
}

const transport = (protocol: string) =>
  protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP';

const defaultTimeouts = {
  timeout_client_data: 50_000,
  timeout_member_connect: 5_000,
  timeout_member_data: 50_000,
  timeout_tcp_inspect: 0,
};

type Timeouts = typeof defaultTimeouts;

/** The timeouts among the values. Null selects the default. */
export function withDefaultTimeouts(values: Values): Partial<Timeouts> {
  const names = Object.keys(defaultTimeouts) as (keyof Timeouts)[];
  const given = names.filter((name) => values[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, values[name] ?? defaultTimeouts[name]]));
}

export function insertListener(
  state: OctaviaState,
  loadBalancer: LoadBalancerRow,
  values: Values,
): ListenerRow {
  checkOvnListener(loadBalancer.provider, values);
  const protocol = values['protocol'] as string;
  const port = values['protocol_port'] as number;
  const other = state
    .listenersOf(loadBalancer.id)
    .find((row) => row.protocol_port === port && transport(row.protocol) === transport(protocol));
  if (other !== undefined) {
    throw conflict(
      `Another Listener on this Load Balancer is already using protocol ${other.protocol} and protocol_port ${port}`,
    );
  }
  checkCidrs(values['allowed_cidrs'], loadBalancer);
  return state.listeners.insert({
    ...state.newRow(loadBalancer.project_id, values),
    loadbalancer_id: loadBalancer.id,
    description: value(values, 'description', ''),
    protocol,
    protocol_port: port,
    default_pool_id: value<string | null>(values, 'default_pool_id', null),
    connection_limit: value(values, 'connection_limit', -1),
    ...defaultTimeouts,
    ...withDefaultTimeouts(values),
    insert_headers: value(values, 'insert_headers', {}),
    allowed_cidrs: value<string[] | null>(values, 'allowed_cidrs', null),
    default_tls_container_ref: value<string | null>(values, 'default_tls_container_ref', null),
    sni_container_refs: value<string[]>(values, 'sni_container_refs', []),
  });
}

export function checkCidrs(cidrs: unknown, { vip_address }: LoadBalancerRow): void {
  for (const cidr of Array.isArray(cidrs) ? (cidrs as string[]) : []) {
    if (cidr.includes(':') === vip_address.includes(':')) continue;
    throw validationFailure(
      `CIDR ${cidr} IP version incompatible with VIP ${vip_address} IP version.`,
    );
  }
}

const poolProtocols: Readonly<Record<string, readonly string[]>> = {
  TCP: ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  HTTP: ['HTTP', 'PROXY', 'PROXYV2'],
  HTTPS: ['HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  TERMINATED_HTTPS: ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2'],
  UDP: ['UDP'],
  SCTP: ['SCTP'],
};

export function checkPoolProtocol(listenerProtocol: string, poolProtocol: string): void {
  if (poolProtocols[listenerProtocol]?.includes(poolProtocol) === true) return;
  throw validationFailure(
    `The pool protocol '${poolProtocol}' is invalid while the listener protocol is '${listenerProtocol}'.`,
  );
}

export function insertPool(
  state: OctaviaState,
  loadBalancer: LoadBalancerRow,
  values: Values,
): PoolRow {
  checkOvnPool(loadBalancer.provider, values);
  const algorithm = values['lb_algorithm'] as string;
  if (algorithm === 'SOURCE_IP_PORT' && loadBalancer.provider !== 'ovn') {
    throw unsupportedOption(
      loadBalancer.provider,
      'Amphora provider does not support SOURCE_IP_PORT algorithm.',
    );
  }
  return state.pools.insert({
    ...state.newRow(loadBalancer.project_id, values),
    loadbalancer_id: loadBalancer.id,
    description: value(values, 'description', ''),
    protocol: values['protocol'] as string,
    lb_algorithm: algorithm,
    session_persistence: readPersistence(values['session_persistence']),
    tls_enabled: values['tls_enabled'] === true,
  });
}

export function readPersistence(wanted: unknown): PoolRow['session_persistence'] {
  if (wanted === undefined || wanted === null) return null;
  const persistence = wanted as Readonly<Record<string, unknown>>;
  if (persistence['type'] === 'APP_COOKIE' && typeof persistence['cookie_name'] !== 'string') {
    throw validationFailure(
      'Field "cookie_name" must be specified when using the "APP_COOKIE" session persistence type.',
    );
  }
  return {
    type: persistence['type'],
    cookie_name: persistence['cookie_name'] ?? null,
    persistence_timeout: persistence['persistence_timeout'] ?? null,
    persistence_granularity: persistence['persistence_granularity'] ?? null,
  };
}

export function insertMember(state: OctaviaState, pool: PoolRow, values: Values): MemberRow {
  checkOvnMember(state.loadBalancers.get(pool.loadbalancer_id)?.provider ?? '', values);
  const address = values['address'] as string;
  const port = values['protocol_port'] as number;
  if (
    state.membersOf(pool.id).some((row) => row.address === address && row.protocol_port === port)
  ) {
    throw conflict(
      `Another member on this pool is already using ip ${address} on protocol_port ${port}`,
    );
  }
  return state.members.insert({
    ...state.newRow(pool.project_id, values),
    operating_status: 'NO_MONITOR',
    pool_id: pool.id,
    address: tryParseAddress(address) ?? address,
    protocol_port: port,
    weight: value(values, 'weight', 1),
    backup: value(values, 'backup', false),
    subnet_id: value<string | null>(values, 'subnet_id', null),
    monitor_address: value<string | null>(values, 'monitor_address', null),
    monitor_port: value<number | null>(values, 'monitor_port', null),
  });
}

export function insertHealthMonitor(
  state: OctaviaState,
  pool: PoolRow,
  values: Values,
): HealthMonitorRow {
  if (state.monitorOf(pool.id) !== undefined) {
    throw conflict('This pool already has a health monitor');
  }
  checkOvnMonitor(state.loadBalancers.get(pool.loadbalancer_id)?.provider ?? '', values);
  const type = values['type'] as string;
  const isDatagram = pool.protocol === 'UDP' || pool.protocol === 'SCTP';
  if (type === 'UDP-CONNECT' && !isDatagram) {
    throw validationFailure('The UDP-CONNECT type is only supported for pools of type UDP/SCTP.');
  }
  const isHttp = type === 'HTTP' || type === 'HTTPS';
  return state.healthMonitors.insert({
    ...state.newRow(pool.project_id, values),
    pool_id: pool.id,
    type,
    delay: values['delay'] as number,
    timeout: values['timeout'] as number,
    max_retries: values['max_retries'] as number,
    max_retries_down: value(values, 'max_retries_down', 3),
    http_method: value<string | null>(values, 'http_method', isHttp ? 'GET' : null),
    url_path: value<string | null>(values, 'url_path', isHttp ? '/' : null),
    expected_codes: value<string | null>(values, 'expected_codes', isHttp ? '200' : null),
    http_version: value<number | null>(values, 'http_version', null),
    domain_name: value<string | null>(values, 'domain_name', null),
  });
}
