// A cloud with fixed answers in its own process, so that its work does not count as the client's. Prints its
// address, then serves until its standard input ends.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { count: { type: 'string', default: '5000' }, 'ignore-limit': { type: 'boolean' } },
});
const count = Number(values.count);
const id = (kind: string, index: number) =>
  `${kind.padEnd(8, '0').slice(0, 8)}-0000-4000-8000-${String(index).padStart(12, '0')}`;
const times = { created_at: '2026-01-01T00:00:00', updated_at: '2026-01-01T00:00:00' };
const states = { provisioning_status: 'ACTIVE', operating_status: 'ONLINE', admin_state_up: true };
const project = { project_id: id('project', 1), tenant_id: id('project', 1) };

const kinds: Record<string, (index: number) => object> = {
  loadbalancers: (index) => ({
    id: id('lb', index),
    name: `namespace-${index % 100}/service-${index}`,
    description: 'A load balancer of a Service, with words enough to be like a real one.',
    vip_address: `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
    vip_port_id: id('port', index),
    vip_subnet_id: id('subnet', 1),
    vip_network_id: id('network', 1),
    additional_vips: [],
    listeners: [{ id: id('listener', index) }],
    pools: [{ id: id('pool', index) }],
    provider: 'amphora',
    flavor_id: null,
    availability_zone: null,
    vip_qos_policy_id: null,
    tags: ['causeway', `cluster-${index % 10}`],
    ...states,
    ...times,
    ...project,
  }),
  listeners: (index) => ({
    id: id('listener', index),
    name: `namespace-${index % 100}/service-${index}:TCP:80`,
    description: '',
    protocol: 'TCP',
    protocol_port: 80,
    connection_limit: -1,
    default_tls_container_ref: null,
    sni_container_refs: [],
    default_pool_id: id('pool', index),
    l7policies: [],
    insert_headers: {},
    loadbalancers: [{ id: id('lb', index) }],
    timeout_client_data: 50_000,
    timeout_member_connect: 5_000,
    timeout_member_data: 50_000,
    timeout_tcp_inspect: 0,
    allowed_cidrs: null,
    tls_versions: [],
    tags: [],
    ...states,
    ...times,
    ...project,
  }),
  pools: (index) => ({
    id: id('pool', index),
    name: `namespace-${index % 100}/service-${index}:TCP:80`,
    description: '',
    protocol: 'TCP',
    lb_algorithm: 'ROUND_ROBIN',
    session_persistence: null,
    loadbalancers: [{ id: id('lb', index) }],
    listeners: [{ id: id('listener', index) }],
    members: Array.from({ length: 10 }, (_, member) => ({ id: id('member', index * 10 + member) })),
    healthmonitor_id: id('monitor', index),
    tls_enabled: false,
    tags: [],
    ...states,
    ...times,
    ...project,
  }),
};

let tokens = 0;
let validToken = '';

const server = http.createServer((request, response) => {
  request.resume();
  const url = new URL(request.url ?? '/', 'http://localhost');
  const answer = (status: number, body: unknown, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
  if (url.pathname === '/tokens') return answer(200, { tokens });
  if (url.pathname === '/expire') {
    validToken = '';
    return answer(200, {});
  }
  if (url.pathname.endsWith('/auth/tokens')) {
    tokens += 1;
    validToken = `token-${tokens}`;
    return answer(201, token(), { 'x-subject-token': validToken });
  }
  if (request.headers['x-auth-token'] !== validToken) return answer(401, {});
  const kind = url.pathname.split('/').at(-1) ?? '';
  const make = kinds[kind];
  if (make === undefined) return answer(200, { versions: [{ id: 'v2.26' }] });
  return answer(200, page(kind, make, url.searchParams));
});

function token() {
  const now = Date.now();
  return {
    token: {
      issued_at: new Date(now).toISOString(),
      expires_at: new Date(now + 3_600_000).toISOString(),
      catalog: [],
    },
  };
}

function page(kind: string, make: (index: number) => object, query: URLSearchParams) {
  const marker = query.get('marker');
  const start = marker === null ? 0 : Number(marker.slice(-12)) + 1;
  const limit = values['ignore-limit'] === true ? count : Number(query.get('limit') ?? 1_000);
  const end = Math.min(start + limit, count);
  const items = Array.from({ length: end - start }, (_, index) => make(start + index));
  const last = items.at(-1) as { id: string } | undefined;
  const next = `http://somewhere/v2/lbaas/${kind}?limit=${limit}&marker=${last?.id ?? ''}`;
  return { [kind]: items, [`${kind}_links`]: end < count ? [{ rel: 'next', href: next }] : [] };
}

server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.stdin.on('end', () => process.exit(0)).resume();
