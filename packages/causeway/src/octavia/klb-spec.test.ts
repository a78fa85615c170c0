import { expect, test } from 'vitest';
import type { Family } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { translate } from './klb-spec.ts';
import type { KlbSpec } from './kuryr-load-balancer.ts';
import { octaviaSettings } from './settings.ts';
import { frontendFromService } from '../services/frontend-from-service.ts';

const occm = (name: string) => `loadbalancer.openstack.org/${name}`;
const bothSubnets = new Map([
  [4, 'subnet-4'],
  [6, 'subnet-6'],
] as const);

interface Case {
  readonly spec?: Service['spec'];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly settings?: object;
  readonly slices?: readonly EndpointSlice[];
  readonly subnets?: ReadonlyMap<Family, string>;
}

function read({
  spec = {},
  annotations = {},
  settings = {},
  slices = [],
  subnets = bothSubnets,
}: Case) {
  return translate({
    frontend: frontendFromService({
      metadata: { namespace: 'shop', name: 'web', annotations },
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.7',
        ports: [{ port: 80, targetPort: 'http', nodePort: 30080 }],
        ...spec,
      },
    }),
    slices,
    settings: octaviaSettings.parse({ floatingNetwork: 'public', ...settings }),
    subnets,
  });
}

function specOf(example: Case): KlbSpec {
  const translation = read(example);
  if (translation.kind !== 'spec') throw new Error(translation.message);
  return translation.spec;
}

function notesOf(example: Case): string[] {
  const translation = read(example);
  return translation.kind === 'spec'
    ? translation.notes.map(({ reason, message }) => `${reason}: ${message}`)
    : [];
}

test('a Service of type LoadBalancer gets any internal address and a floating IP', () => {
  expect(specOf({})).toEqual({
    type: 'LoadBalancer',
    subnet_id: 'subnet-4',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 'http', nodePort: 30080 }],
    endpointSlices: [],
    options: { floating_network_id: 'public', member_mode: 'NodePort' },
  });
});

test.each<[string, Case, object]>([
  ['the cluster IP as VIP', { settings: { vip: 'ClusterIP' } }, { ip: '10.96.0.7' }],
  ['a ClusterIP Service', { spec: { type: 'ClusterIP' } }, { ip: '10.96.0.7', type: 'ClusterIP' }],
  [
    'a requested external address',
    { spec: { loadBalancerIP: '203.0.113.9' } },
    { lb_ip: '203.0.113.9' },
  ],
  [
    "Causeway's annotation before the others",
    {
      spec: { loadBalancerIP: '203.0.113.9' },
      annotations: {
        'causeway.dev/address': '203.0.113.7',
        [occm('load-balancer-address')]: '203.0.113.8',
      },
    },
    { lb_ip: '203.0.113.7' },
  ],
  [
    'a requested internal address',
    {
      spec: { loadBalancerIP: '10.10.0.9' },
      annotations: { 'service.beta.kubernetes.io/openstack-internal-load-balancer': 'true' },
    },
    { ip: '10.10.0.9', options: { internal: true, member_mode: 'NodePort' } },
  ],
  [
    "Kuryr's timeouts",
    { annotations: { 'openstack.org/kuryr-timeout-client-data': '9000' } },
    { timeout_client_data: 9000 },
  ],
  [
    'project, provider, groups',
    { settings: { project: 'p', provider: 'ovn', securityGroups: ['g'] } },
    { project_id: 'p', provider: 'ovn', security_groups_ids: ['g'] },
  ],
  [
    'an allowed project',
    {
      settings: { project: 'p', projects: ['q'] },
      annotations: { 'causeway.dev/project': 'q' },
    },
    { project_id: 'q' },
  ],
  [
    'a project that is not allowed',
    { settings: { project: 'p' }, annotations: { 'causeway.dev/project': 'q' } },
    { project_id: 'p' },
  ],
  [
    "groups of the Service's beside those of the settings",
    {
      settings: { securityGroups: ['g'] },
      annotations: { 'causeway.dev/security-groups': 'h, g,i' },
    },
    { security_groups_ids: ['g', 'h', 'i'] },
  ],
  ['a subnet of its own', { annotations: { [occm('subnet-id')]: 's' } }, { subnet_id: 's' }],
])('%s', (_, example, expected) => {
  expect(specOf(example)).toMatchObject(expected);
});

test.each<[string, string, object]>([
  ['floating-network-id', 'other', { floating_network_id: 'other' }],
  ['floating-subnet-id', 's', { floating_subnet_id: 's' }],
  ['floating-subnet', 'dmz*', { floating_subnet: 'dmz*' }],
  ['floating-subnet-tags', 'a,b', { floating_subnet_tags: 'a,b' }],
  ['keep-floatingip', 'true', { keep_floating_ip: true }],
  ['network-id', 'n', { network_id: 'n' }],
  ['port-id', 'p', { vip_port_id: 'p' }],
  ['member-subnet-id', 'm', { member_subnet_id: 'm' }],
  ['connection-limit', '100', { connection_limit: 100 }],
  ['lb-method', 'least_connections', { algorithm: 'LEAST_CONNECTIONS' }],
  ['proxy-protocol', 'true', { proxy_protocol: 'PROXY' }],
  ['proxy-protocol', 'v2', { proxy_protocol: 'PROXYV2' }],
  ['x-forwarded-for', 'true', { x_forwarded_for: true }],
  ['default-tls-container-ref', 'https://barbican/1', { tls_container_ref: 'https://barbican/1' }],
  ['timeout-member-connect', '7', { timeout_member_connect: 7 }],
  ['timeout-tcp-inspect', '8', { timeout_tcp_inspect: 8 }],
  [
    'enable-health-monitor',
    'true',
    { health_monitor: { delay: 5, timeout: 3, max_retries: 1, max_retries_down: 3 } },
  ],
  ['flavor-id', 'f', { flavor_id: 'f' }],
  ['availability-zone', 'z', { availability_zone: 'z' }],
  ['load-balancer-id', 'l', { loadbalancer_id: 'l' }],
  ['hostname', 'web.example', { hostname: 'web.example' }],
  ['node-selector', 'edge=true', { node_selector: 'edge=true' }],
])("OCCM's annotation %s: %s", (name, value, expected) => {
  expect(specOf({ annotations: { [occm(name)]: value } }).options).toMatchObject(expected);
});

test.each<[string, string]>([
  ['connection-limit', 'many'],
  ['lb-method', 'FASTEST'],
  ['keep-floatingip', 'yes'],
  ['timeout-member-connect', '-1'],
])('%s: ignores %s with a note, and keeps the rest', (name, value) => {
  const example = { annotations: { [occm(name)]: value, [occm('flavor-id')]: 'f' } };
  expect(notesOf(example)).toEqual([
    expect.stringMatching(new RegExp(`^AnnotationIgnored: .*${occm(name)} is ignored`)),
  ]);
  expect(specOf(example).options?.flavor_id).toBe('f');
});

test('source ranges are sorted; an invalid range allows no source, and never every source', () => {
  const ranges = (...loadBalancerSourceRanges: string[]) => ({
    spec: { loadBalancerSourceRanges },
  });
  expect(specOf(ranges('192.0.2.0/24', '10.0.0.0/8')).options?.allowed_cidrs).toEqual([
    '10.0.0.0/8',
    '192.0.2.0/24',
  ]);
  expect(specOf(ranges('everybody')).options?.allowed_cidrs).toEqual(['127.0.0.1/32']);
  expect(notesOf(ranges('everybody'))).toHaveLength(1);
});

test('local traffic is checked on its health port, requested or not', () => {
  const spec = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 } as const;
  expect(specOf({ spec }).options?.health_monitor?.node_port).toBe(32000);
});

test.each<[string, Case]>([
  ['by the settings', { settings: { members: 'Pod' } }],
  ['because there are no node ports', { spec: { ports: [{ port: 80 }] } }],
])("pods as members %s don't use the node's health port", (_, { spec, settings = {} }) => {
  const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32000, ...spec } as const;
  expect(specOf({ spec: local, settings }).options).toMatchObject({ member_mode: 'Pod' });
  expect(specOf({ spec: local, settings }).options?.health_monitor).toBeUndefined();
  const annotations = { [occm('enable-health-monitor')]: 'true' };
  const { health_monitor } = specOf({ spec: local, settings, annotations }).options ?? {};
  expect(health_monitor).toEqual({ delay: 5, timeout: 3, max_retries: 1, max_retries_down: 3 });
});

test("ignores a number of retries over Octavia's limit with a note, and keeps the monitor", () => {
  const annotations = {
    [occm('enable-health-monitor')]: 'true',
    [occm('health-monitor-max-retries')]: '20',
    [occm('health-monitor-max-retries-down')]: '10',
  };
  expect(specOf({ annotations }).options?.health_monitor).toMatchObject({
    max_retries: 1,
    max_retries_down: 10,
  });
  expect(notesOf({ annotations }).join()).toContain('not a whole number from 1 to 10');
});

test('two families use a second address if there is a subnet for it', () => {
  const spec = { ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['10.96.0.7', 'fd00::7'] } as const;
  expect(specOf({ spec, settings: { vip: 'ClusterIP' } }).options?.additional_vips).toEqual([
    { subnet_id: 'subnet-6', ip: 'fd00::7' },
  ]);
});

test('requested addresses of two families become the floating IP and the second VIP', () => {
  const spec = { ipFamilies: ['IPv4', 'IPv6'] } as const;
  const annotations = { 'causeway.dev/address': 'fd00::9,192.0.2.9' };
  const { lb_ip, options } = specOf({ spec, annotations, settings: { floatingNetwork: 'public' } });
  expect(lb_ip).toBe('192.0.2.9');
  expect(options?.additional_vips).toEqual([{ subnet_id: 'subnet-6', ip: 'fd00::9' }]);
});

test('IPv6 has no floating IPs: the VIP is the address', () => {
  const spec = { ipFamilies: ['IPv6'] } as const;
  const annotations = { 'causeway.dev/address': 'fd00::9' };
  const read = specOf({ spec, annotations, settings: { floatingNetwork: 'public' } });
  expect(read).toMatchObject({ ip: 'fd00::9', subnet_id: 'subnet-6', options: { internal: true } });
  expect(read.lb_ip).toBeUndefined();
});

test("an idle Service uses its node ports, or gets a note that connections can't wake it", () => {
  const annotations = { 'idling.alpha.openshift.io/idled-at': '2026-11-15T10:00:00Z' };
  const settings = { members: 'Pod' };
  expect(specOf({ annotations, settings }).options?.member_mode).toBe('NodePort');
  const spec = { ports: [{ port: 80 }] };
  expect(specOf({ annotations, settings, spec }).options?.member_mode).toBe('Pod');
  expect(notesOf({ annotations, settings, spec })).toEqual([
    expect.stringMatching(/^CannotBeWoken: .*can't wake/),
  ]);
});

test.each<[string, Case, string]>([
  ['no subnet', { subnets: new Map() }, 'NoSubnet'],
  ['an invalid address', { spec: { loadBalancerIP: '010.1.1.1' } }, 'InvalidAddress'],
])('refuses %s', (_, example, reason) => {
  expect(read(example)).toMatchObject({ kind: 'refused', reason });
});

test('slices in any order make the same spec', () => {
  const slice = (name: string, ...addresses: string[]): EndpointSlice => ({
    metadata: { name },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [{ name: '', port: 8080 }],
  });
  const one = specOf({ slices: [slice('a', '10.1.0.2', '10.1.0.1'), slice('b', '10.1.0.3')] });
  const other = specOf({ slices: [slice('b', '10.1.0.3'), slice('a', '10.1.0.1', '10.1.0.2')] });
  expect(one).toEqual(other);
});

const classes = { gold: { floatingNetwork: 'gold-net', subnet: 'gold-subnet' } };

test("a class sets defaults for a Service, and the Service's annotations take precedence", () => {
  const chosen = { settings: { classes }, annotations: { [occm('class')]: 'gold' } };
  expect(specOf(chosen)).toMatchObject({
    subnet_id: 'gold-subnet',
    options: { floating_network_id: 'gold-net' },
  });
  const annotations = { ...chosen.annotations, [occm('subnet-id')]: 's' };
  expect(specOf({ ...chosen, annotations }).subnet_id).toBe('s');
});

test('notes an unknown class, and keeps the rest', () => {
  const example = { settings: { classes }, annotations: { [occm('class')]: 'silver' } };
  expect(notesOf(example)).toEqual([expect.stringContaining('"silver" is none of gold')]);
  expect(specOf(example).subnet_id).toBe('subnet-4');
});

test('notes that endpoints with names are skipped', () => {
  const slice = { addressType: 'FQDN' as const, endpoints: [{ addresses: ['a.example'] }] };
  expect(notesOf({ slices: [slice] })).toEqual([
    expect.stringMatching(/^KuryrSkipMember: .*names/),
  ]);
});

test('uses pods for a Service without node ports where members are node ports', () => {
  const example = { settings: { members: 'NodePort' }, spec: { ports: [{ port: 80 }] } };
  expect(notesOf(example)).toEqual([expect.stringMatching(/^NoNodePorts: /)]);
  expect(specOf(example).options?.member_mode).toBe('Pod');
});
