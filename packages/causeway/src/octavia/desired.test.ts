import { expect, test } from 'vitest';
import {
  lbaasV2Capabilities,
  octaviaCapabilities,
} from '@causeway/openstack/load-balancing/capabilities';
import type { KlbSpec } from './kuryr-load-balancer.ts';
import { wantedBalancer } from './desired.ts';

const newest = octaviaCapabilities(29);

function wanted(spec: KlbSpec, capabilities = newest, skipped: string[] = []) {
  return wantedBalancer({
    klb: { metadata: { namespace: 'shop', name: 'web' }, spec },
    nodes: [],
    subnetFamily: 4,
    provider: spec.provider,
    capabilities,
    skipped: new Set(skipped),
  });
}

function read(spec: KlbSpec, capabilities = newest) {
  const reading = wanted(spec, capabilities);
  if (reading.kind === 'refused') throw new Error(reading.message);
  return { ...reading.wanted, notes: reading.notes.map(({ reason }) => reason) };
}

const ports = [{ port: 80, protocol: 'TCP', targetPort: '80' }] as const;
const udp = { port: 80, protocol: 'UDP', targetPort: '80' } as const;

test("uses Kuryr's names, and each ready member of the right port once", () => {
  const endpoint = (address: string, ready = true) => ({
    addresses: [address],
    conditions: { ready },
    targetRef: { name: `p-${address}`, namespace: 'shop' },
  });
  const { listeners } = read({
    ports: [{ name: 'http', ...ports[0] }],
    endpointSlices: [
      {
        endpoints: [endpoint('10.1.0.1'), endpoint('10.1.0.2', false), endpoint('fd00::1')],
        ports: [
          { name: 'http', port: 8080, protocol: 'TCP' },
          { name: 'other', port: 9090, protocol: 'TCP' },
        ],
      },
      { endpoints: [endpoint('10.1.0.1')], ports: [{ name: 'http', port: 8080 }] },
    ],
  });
  expect(listeners).toMatchObject([
    {
      name: 'shop/web:TCP:80',
      pool: {
        name: 'shop/web:TCP:80',
        algorithm: 'ROUND_ROBIN',
        members: [{ address: '10.1.0.1', port: 8080, name: 'shop/p-10.1.0.1:8080' }],
      },
    },
  ]);
  expect(listeners[0]?.pool.members).toHaveLength(1);
});

test.each<[string, KlbSpec, object]>([
  ['plain', { ports }, { protocol: 'TCP', pool: { protocol: 'TCP' } }],
  [
    'forwarded for',
    { ports, options: { x_forwarded_for: true } },
    {
      protocol: 'HTTP',
      pool: { protocol: 'HTTP' },
      settings: { insertHeaders: { 'X-Forwarded-For': 'true' } },
    },
  ],
  [
    'TLS',
    { ports, options: { tls_container_ref: 'ref' } },
    {
      protocol: 'TERMINATED_HTTPS',
      pool: { protocol: 'HTTP' },
      settings: { tlsContainerRef: 'ref' },
    },
  ],
  [
    'proxy protocol',
    { ports, options: { proxy_protocol: 'PROXYV2' } },
    { protocol: 'TCP', pool: { protocol: 'PROXYV2' } },
  ],
  [
    'proxy protocol is for TCP',
    { ports: [udp], options: { proxy_protocol: 'PROXY' } },
    { protocol: 'UDP', pool: { protocol: 'UDP' } },
  ],
  [
    'affinity',
    { ports, options: { session_affinity: true } },
    { pool: { persistence: { type: 'SOURCE_IP' } } },
  ],
  [
    'sources',
    { ports, options: { allowed_cidrs: ['10.0.0.0/8'] } },
    { settings: { allowedCidrs: ['10.0.0.0/8'] } },
  ],
  ['timeouts', { ports, timeout_client_data: 5 }, { settings: { timeouts: { clientData: 5 } } }],
  [
    'a check of the port',
    {
      ports,
      options: { health_monitor: { delay: 5, timeout: 3, max_retries: 1, max_retries_down: 2 } },
    },
    { pool: { monitor: { type: 'TCP', delay: 5 } } },
  ],
  [
    'a check of a UDP port',
    {
      ports: [udp],
      options: { health_monitor: { delay: 5, timeout: 3, max_retries: 1, max_retries_down: 2 } },
    },
    { pool: { monitor: { type: 'UDP-CONNECT' } } },
  ],
  [
    'a check of the health port',
    {
      ports,
      options: {
        health_monitor: { delay: 5, timeout: 3, max_retries: 1, max_retries_down: 2, node_port: 3 },
      },
    },
    { pool: { monitor: { type: 'HTTP', urlPath: '/healthz' } } },
  ],
])('%s', (_, spec, expected) => {
  expect(read(spec).listeners).toMatchObject([expected]);
});

test('notes the options that OVN lacks, and keeps the others', () => {
  const options = {
    algorithm: 'ROUND_ROBIN',
    flavor_id: 'f',
    availability_zone: 'z',
    x_forwarded_for: true,
    timeout_tcp_inspect: 1,
  };
  const { listeners, flavorId, securityGroupIds, notes } = read(
    { ports, provider: 'ovn', options, security_groups_ids: ['g'] },
    octaviaCapabilities(29, 'ovn'),
  );
  expect(listeners).toMatchObject([
    { protocol: 'TCP', pool: { protocol: 'TCP', algorithm: 'SOURCE_IP_PORT' } },
  ]);
  expect(flavorId).toBeUndefined();
  expect(securityGroupIds).toEqual([]);
  expect(notes).toEqual(Array(6).fill('OptionUnsupported'));
});

test('refuses source ranges that are not supported, because the load balancer would be open to every source', () => {
  const spec: KlbSpec = { ports, provider: 'ovn', options: { allowed_cidrs: ['10.0.0.0/8'] } };
  expect(wanted(spec, octaviaCapabilities(29, 'ovn'))).toMatchObject({
    kind: 'refused',
    reason: 'SourceRangesUnsupported',
  });
});

test('skips unsupported ports: UDP on LBaaS v2, a second protocol, a refused listener', () => {
  const both: KlbSpec = { ports: [ports[0], udp] };
  expect(read(both, lbaasV2Capabilities).listeners.map(({ name }) => name)).toEqual([
    'shop/web:TCP:80',
  ]);
  expect(read(both, octaviaCapabilities(12)).notes).toEqual(['KuryrSkipListener']);
  expect(read(both).listeners).toHaveLength(2);
  expect(wanted(both, newest, ['shop/web:TCP:80'])).toMatchObject({
    wanted: { listeners: [{ name: 'shop/web:UDP:80' }] },
  });
});
