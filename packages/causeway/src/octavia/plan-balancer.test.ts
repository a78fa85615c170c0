import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import type {
  HealthMonitor,
  Listener,
  LoadBalancer,
  Member,
  Pool,
} from '@causeway/openstack/load-balancing/resources';
import type { ObservedBalancer } from './observed.ts';
import { isMembersOnly, planBalancer, type ChangePlan } from './plan-balancer.ts';
import type { WantedBalancer, WantedListener } from './desired.ts';

const common = {
  projectId: 'p',
  adminStateUp: true,
  provisioningStatus: 'ACTIVE',
  operatingStatus: 'ONLINE',
  tags: [],
} as const;
const marks = { description: 'ours', tags: ['tag'], isShared: false };

const member: Member = {
  ...common,
  id: 'm1',
  name: 'shop/pod:8080',
  address: parseAddress('10.1.0.1'),
  port: parsePort(8080),
  subnetId: 's',
  weight: 1,
  backup: false,
  monitorAddress: undefined,
  monitorPort: undefined,
};
const balancer: LoadBalancer = {
  ...common,
  id: 'b1',
  name: 'shop/web',
  description: 'ours',
  tags: ['tag'],
  provider: 'amphora',
  vipAddress: parseAddress('10.0.0.5'),
  vipPortId: 'port',
  vipSubnetId: 's',
  vipNetworkId: 'n',
  additionalVips: [],
  listenerIds: ['l1'],
  poolIds: ['p1'],
  flavorId: undefined,
  availabilityZone: undefined,
};
const listener: Listener = {
  ...common,
  id: 'l1',
  name: 'shop/web:TCP:80',
  description: '',
  loadBalancerId: 'b1',
  protocol: 'TCP',
  port: parsePort(80),
  defaultPoolId: 'p1',
  connectionLimit: -1,
  timeouts: { clientData: 50_000 },
  allowedCidrs: undefined,
  insertHeaders: {},
  tlsContainerRef: undefined,
};
const pool: Pool = {
  ...common,
  id: 'p1',
  name: 'shop/web:TCP:80',
  description: '',
  loadBalancerId: 'b1',
  listenerIds: ['l1'],
  memberIds: ['m1'],
  healthMonitorId: undefined,
  protocol: 'TCP',
  algorithm: 'ROUND_ROBIN',
  sessionPersistence: undefined,
  tlsEnabled: false,
};
const monitor: HealthMonitor = {
  ...common,
  id: 'h1',
  name: 'shop/web:TCP:80',
  poolId: 'p1',
  type: 'TCP',
  delay: 5,
  timeout: 3,
  maxRetries: 1,
  maxRetriesDown: 3,
  urlPath: undefined,
  httpMethod: undefined,
  expectedCodes: undefined,
  domainName: undefined,
};
const observed: ObservedBalancer = {
  balancer,
  listeners: [listener],
  pools: [pool],
  monitors: [],
  members: new Map([['p1', [member]]]),
};
const wantedListener: WantedListener = {
  name: 'shop/web:TCP:80',
  protocol: 'TCP',
  port: parsePort(80),
  settings: { allowedCidrs: null },
  pool: {
    name: 'shop/web:TCP:80',
    protocol: 'TCP',
    algorithm: 'ROUND_ROBIN',
    persistence: null,
    members: [{ address: member.address, port: member.port, name: member.name }],
    monitor: undefined,
  },
};
const wanted: WantedBalancer = {
  name: 'shop/web',
  projectId: undefined,
  subnetId: 's',
  networkId: undefined,
  portId: undefined,
  address: undefined,
  additionalVips: [],
  securityGroupIds: [],
  provider: undefined,
  servingProvider: undefined,
  flavorId: undefined,
  availabilityZone: undefined,
  listeners: [wantedListener],
};
const wantedMonitor = {
  name: pool.name,
  type: 'TCP',
  delay: 5,
  timeout: 3,
  maxRetries: 1,
} as const;
const withPool = (change: Partial<WantedListener['pool']>): WantedBalancer => ({
  ...wanted,
  listeners: [{ ...wantedListener, pool: { ...wantedListener.pool, ...change } }],
});
const withListener = (change: Partial<WantedListener>): WantedBalancer => ({
  ...wanted,
  listeners: [{ ...wantedListener, ...change }],
});

function planOf(
  want: WantedBalancer,
  have: ObservedBalancer = observed,
  mark: typeof marks = marks,
): ChangePlan {
  const decision = planBalancer(want, have, mark);
  if (decision.kind !== 'change') throw new Error(`it is ${decision.kind}`);
  return decision.plan;
}

test('leaves an unchanged load balancer alone', () => {
  expect(planBalancer(wanted, observed, marks)).toEqual({ kind: 'same' });
  expect(planBalancer(wanted, undefined, marks)).toEqual({ kind: 'create' });
});

test.each<[string, Partial<LoadBalancer>, Partial<WantedBalancer>, string]>([
  ['being created', { provisioningStatus: 'PENDING_CREATE' }, {}, 'wait'],
  ['being deleted', { provisioningStatus: 'PENDING_DELETE' }, {}, 'wait'],
  ['being changed', { provisioningStatus: 'PENDING_UPDATE' }, {}, 'same'],
  ['in ERROR', { provisioningStatus: 'ERROR' }, {}, 'replace'],
  ['of another provider', {}, { provider: 'ovn' }, 'replace'],
  ["of amphora's old name", {}, { provider: 'octavia' }, 'same'],
  ['at another address', {}, { address: parseAddress('10.0.0.6') }, 'replace'],
  ['of another flavor', {}, { flavorId: 'f' }, 'same'],
  ['in another subnet', {}, { subnetId: 'other' }, 'same'],
])('a load balancer %s', (_, present, want, kind) => {
  const have = { ...observed, balancer: { ...balancer, ...present } };
  expect(planBalancer({ ...wanted, ...want }, have, marks).kind).toBe(kind);
});

test("a load balancer of Kuryr gets Causeway's marks and nothing else", () => {
  const have = { ...observed, balancer: { ...balancer, description: '', tags: ['theirs'] } };
  const plan = planOf(wanted, have);
  expect(plan.balancer).toEqual({ description: 'ours', tags: ['theirs', 'tag'] });
  expect(plan.listeners).toMatchObject([
    { listener: { kind: 'keep' }, pool: { kind: 'keep' }, setMembers: false },
  ]);
});

test.each<[string, WantedBalancer, object]>([
  [
    'a limit',
    withListener({ settings: { connectionLimit: 5 } }),
    { listener: { kind: 'update', change: { connectionLimit: 5 } } },
  ],
  [
    'a timeout',
    withListener({ settings: { timeouts: { clientData: 1 } } }),
    { listener: { kind: 'update', change: { timeouts: { clientData: 1 } } } },
  ],
  [
    'sources',
    withListener({ settings: { allowedCidrs: ['10.0.0.0/8'] } }),
    { listener: { kind: 'update', change: { allowedCidrs: ['10.0.0.0/8'] } } },
  ],
  [
    'another protocol',
    withListener({ protocol: 'HTTP' }),
    { listener: { kind: 'create', replaces: 'l1' }, pool: { kind: 'create', replaces: 'p1' } },
  ],
  [
    'an algorithm',
    withPool({ algorithm: 'SOURCE_IP' }),
    { listener: { kind: 'keep' }, pool: { kind: 'update', change: { algorithm: 'SOURCE_IP' } } },
  ],
  [
    'affinity',
    withPool({ persistence: { type: 'SOURCE_IP' } }),
    { pool: { kind: 'update', change: { sessionPersistence: { type: 'SOURCE_IP' } } } },
  ],
  [
    'the proxy protocol',
    withPool({ protocol: 'PROXY' }),
    { listener: { kind: 'keep' }, pool: { kind: 'create', replaces: 'p1' }, setMembers: true },
  ],
  ['no members', withPool({ members: [] }), { setMembers: true }],
  ['a monitor', withPool({ monitor: wantedMonitor }), { monitor: { kind: 'create' } }],
])('a change of %s', (_, want, expected) => {
  expect(planOf(want).listeners).toMatchObject([expected]);
});

test('changes monitors in place, replaces them for another type, and deletes own ones', () => {
  const have = { ...observed, monitors: [monitor] };
  const plan = (want: WantedBalancer, present = have) =>
    planOf(want, present).listeners[0]?.monitor;
  expect(plan(withPool({ monitor: { ...wantedMonitor, delay: 9 } }))).toMatchObject({
    kind: 'update',
    change: { delay: 9 },
  });
  expect(plan(withPool({ monitor: { ...wantedMonitor, type: 'HTTP' } }))).toMatchObject({
    kind: 'create',
    replaces: 'h1',
  });
  expect(plan(wanted)).toEqual({ kind: 'delete', id: 'h1' });
  const theirs = { ...observed, monitors: [{ ...monitor, name: 'by hand' }] };
  expect(planBalancer(wanted, theirs, marks).kind).toBe('same');
});

test('deletes own children that are not wanted, and keeps foreign ones', () => {
  const have = {
    ...observed,
    listeners: [
      listener,
      { ...listener, id: 'l2', name: 'shop/web:TCP:81', port: parsePort(81), defaultPoolId: 'p2' },
      { ...listener, id: 'l3', name: 'by hand', port: parsePort(82), defaultPoolId: 'p3' },
    ],
    pools: [pool, { ...pool, id: 'p2', name: 'shop/web:TCP:81' }, { ...pool, id: 'p3', name: 'x' }],
  };
  const plan = planOf(wanted, have);
  expect([plan.removeListeners, plan.removePools]).toEqual([['l2'], ['p2']]);
});

test('recreates children in ERROR, including members', () => {
  const broken = { provisioningStatus: 'ERROR' } as const;
  const lost = planOf(wanted, { ...observed, listeners: [{ ...listener, ...broken }] });
  expect(lost.listeners).toMatchObject([{ listener: { kind: 'create', replaces: 'l1' } }]);
  const members = new Map([['p1', [{ ...member, ...broken }]]]);
  const plan = planOf(wanted, { ...observed, members });
  expect(plan.listeners[0]?.brokenMembers.map(({ id }) => id)).toEqual(['m1']);
  expect(isMembersOnly(plan)).toBe(false);
});

test('on a shared load balancer only own names count, and a port in use is reported', () => {
  const theirs = { ...listener, id: 'l9', name: 'shop/other:TCP:81', port: parsePort(81) };
  const have = {
    ...observed,
    balancer: { ...balancer, description: '' },
    listeners: [listener, theirs],
  };
  expect(planBalancer(wanted, have, { ...marks, isShared: true }).kind).toBe('same');
  const clash = withListener({ name: 'shop/web:TCP:81', port: parsePort(81) });
  expect(planBalancer(clash, have, { ...marks, isShared: true })).toMatchObject({
    reason: 'PortTaken',
  });
});

test('a change of members alone needs no fresh read', () => {
  expect(isMembersOnly(planOf(withPool({ members: [] })))).toBe(true);
  expect(isMembersOnly(planOf(withPool({ members: [], algorithm: 'SOURCE_IP' })))).toBe(false);
});
