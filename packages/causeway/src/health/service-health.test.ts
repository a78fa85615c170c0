import { describe, expect, test } from 'vitest';
import {
  noProblems,
  type ClusterFacts,
  type ConditionFacts,
  type EndpointFacts,
  type GatewayFacts,
  type ServiceFacts,
  type ServiceProblems,
} from './facts.ts';
import { clusterHealth, serviceHealth } from './service-health.ts';
import { isProblem, type CauseCode, type HealthState } from './state.ts';

const now = 1_000_000_000;
const before = (ms: number) => now - ms;

const gateway = (name: string, changes: Partial<GatewayFacts> = {}): GatewayFacts => ({
  name,
  observedAt: before(1_000),
  reachable: true,
  failure: undefined,
  failedSince: undefined,
  role: 'standby',
  alarms: [],
  isFenced: false,
  rejected: noProblems,
  unconfirmed: noProblems,
  ...changes,
});
const active = (changes: Partial<GatewayFacts> = {}) =>
  gateway('a', { role: 'active', ...changes });
const standby = (changes: Partial<GatewayFacts> = {}) => gateway('b', changes);
const down = { reachable: false, role: undefined, failure: 'timeout', failedSince: before(9_000) };
const problems = (since: number, message = 'why'): ServiceProblems => ({
  total: 1,
  listed: new Map([['shop/web', { message, since: before(since) }]]),
});

const endpoints = (ready: number, draining = 0): EndpointFacts => ({
  ready,
  draining,
  all: ready + draining,
});
const condition = (changes: Partial<ConditionFacts> = {}): ConditionFacts => ({
  status: 'True',
  reason: 'Served',
  message: 'Served on 192.0.2.1',
  since: before(100_000),
  ...changes,
});
const service = (changes: Partial<ServiceFacts> = {}): ServiceFacts => ({
  key: 'shop/web',
  isLoadBalancer: true,
  className: 'causeway.dev/gateway',
  provider: { kind: 'record', name: 'gateway' },
  addresses: [{ address: '192.0.2.1', family: 4 }],
  condition: condition(),
  createdAt: before(200_000),
  deletion: undefined,
  idling: undefined,
  endpoints: new Map([[4, endpoints(2)]]),
  selector: 'app=web',
  ...changes,
});
const lease = (renewed: number, holder = 'c1') =>
  ({ kind: 'lease', holder, renewedAt: before(renewed), validForMs: 15_000 }) as const;
const cluster = (changes: Partial<ClusterFacts> = {}): ClusterFacts => ({
  now,
  lease: lease(2_000),
  reportedAt: undefined,
  gateways: [active(), standby()],
  unhealthy: noProblems,
  ...changes,
});
const on = (...gateways: GatewayFacts[]) => cluster({ gateways });

const hung = { lease: lease(60_000) };
const octavia = { provider: { kind: 'record', name: 'octavia' } } as const;
const pending = condition({ status: 'False', reason: 'Pending', message: 'Waiting for a' });
const refused = condition({ status: 'False', reason: 'AddressTaken', message: 'by a/b' });
const unmatched = { provider: { kind: 'none' }, addresses: [], condition: undefined } as const;
const noEndpoints = { endpoints: new Map([[4, endpoints(0)]] as const) };
const twoFamilies = [
  { address: '192.0.2.1', family: 4 },
  { address: '2001:db8::1', family: 6 },
] as const;
const bothReady = new Map([[4, endpoints(2)] as const, [6, endpoints(2)] as const]);
const cutOff6 = 'cut-off: no backend answers this gateway over IPv6';

type Row = readonly [
  name: string,
  service: Partial<ServiceFacts>,
  cluster: ClusterFacts,
  state: HealthState,
  ...causes: CauseCode[],
];

const rows: readonly Row[] = [
  ['everything works', {}, cluster(), 'serving'],
  ['no pod', noEndpoints, cluster(), 'no-endpoints', 'no-endpoints'],
  ['no EndpointSlice', { endpoints: new Map() }, cluster(), 'no-endpoints', 'no-endpoints'],
  [
    'only draining pods',
    { endpoints: new Map([[4, endpoints(0, 1)]]) },
    cluster(),
    'degraded',
    'endpoints-draining',
  ],
  ['idle', { ...noEndpoints, idling: { since: before(9) } }, cluster(), 'idle', 'idle'],
  [
    'idle without an active gateway',
    { ...noEndpoints, idling: { since: before(9) } },
    on(gateway('a'), standby()),
    'not-served',
    'no-active-gateway',
  ],
  ['none active', {}, on(gateway('a'), standby()), 'not-served', 'no-active-gateway'],
  ['no gateway', {}, on(), 'not-served', 'no-gateway'],
  ['one gateway only', {}, on(active()), 'serving'],
  ['the standby is down', {}, on(active(), standby(down)), 'degraded', 'no-redundancy'],
  [
    'the standby has no route',
    {},
    on(active(), standby({ alarms: ['bad-health: no IPv4 default route'] })),
    'degraded',
    'no-redundancy',
  ],
  [
    'no gateway has a route',
    {},
    on(
      active({ alarms: ['bad-health: no IPv4 default route'] }),
      standby({ role: 'unable', alarms: ['bad-health: no IPv4 default route'] }),
    ),
    'not-served',
    'no-able-gateway',
  ],
  [
    'both agents are down',
    {},
    on(active(down), standby(down)),
    'unknown',
    'gateways-not-answering',
    'gateways-not-answering',
  ],
  [
    'the agent beside a standby is down',
    {},
    on(active(down), standby()),
    'unknown',
    'gateways-not-answering',
  ],
  [
    'a fenced active gateway',
    {},
    on(active({ isFenced: true }), standby()),
    'not-served',
    'no-able-gateway',
  ],
  [
    'agents without roles',
    {},
    on(gateway('a', { role: 'unknown' })),
    'degraded',
    'role-not-reported',
  ],
  ['addresses of another system', {}, on(gateway('a', { role: 'foreign' })), 'serving'],
  [
    'old facts about gateways',
    {},
    on(active({ observedAt: before(40_000) }), standby({ observedAt: before(40_000) })),
    'unknown',
    'facts-stale',
    'facts-stale',
  ],
  [
    'the active gateway rejects it',
    {},
    on(active({ rejected: problems(9) }), standby()),
    'not-served',
    'rejected',
  ],
  [
    'the standby rejects it',
    {},
    on(active(), standby({ rejected: problems(9) })),
    'degraded',
    'no-redundancy',
  ],
  ['a change is on its way', {}, on(active({ unconfirmed: problems(1_000) })), 'serving'],
  ['a paused gateway', {}, on(active({ unconfirmed: problems(9_000) })), 'degraded', 'unconfirmed'],
  [
    'a paused gateway that rejects updates',
    {},
    on(active({ ...down, role: 'active', unconfirmed: problems(9_000) })),
    'degraded',
    'unconfirmed',
  ],
  [
    'more unconfirmed Services than are listed',
    {},
    on(active({ unconfirmed: { total: 700, listed: new Map() } })),
    'degraded',
    'unconfirmed',
  ],
  ['dead pods', {}, cluster({ unhealthy: problems(9) }), 'not-served', 'backends-unhealthy'],
  [
    'one family of two is cut off',
    { addresses: twoFamilies, endpoints: bothReady },
    on(active({ alarms: [cutOff6] })),
    'degraded',
    'cut-off',
  ],
  ['the other family of a cut-off gateway', {}, on(active({ alarms: [cutOff6] })), 'serving'],
  ['one family has no endpoint', { addresses: twoFamilies }, cluster(), 'degraded', 'no-endpoints'],
  ['a hung controller', {}, cluster(hung), 'degraded', 'controller-hung'],
  ['a hung controller, on Octavia', octavia, cluster(hung), 'unknown', 'controller-hung'],
  ['on Octavia', octavia, cluster({ gateways: [] }), 'serving'],
  [
    'on Octavia with a refused change',
    { ...octavia, condition: refused },
    cluster(),
    'degraded',
    'refused',
  ],
  ['an unreadable lease', {}, cluster({ lease: { kind: 'not-read' } }), 'serving'],
  [
    'a new Service and a hung controller',
    unmatched,
    cluster(hung),
    'not-served',
    'controller-hung',
    'no-provider',
  ],
  [
    'a new Service without a controller',
    unmatched,
    cluster({ lease: { kind: 'absent' } }),
    'not-served',
    'no-controller',
    'no-provider',
  ],
  [
    'a controller without leader election',
    {},
    cluster({ lease: { kind: 'absent' }, reportedAt: before(9_000) }),
    'serving',
  ],
  ['no class', { ...unmatched, className: undefined }, cluster(), 'not-served', 'no-provider'],
  ['pending', { addresses: [], condition: pending }, cluster(), 'pending', 'pending'],
  [
    'pending without a gateway that answers',
    { addresses: [], condition: pending },
    on(active(down)),
    'pending',
    'gateways-not-answering',
    'pending',
  ],
  [
    'pending with a hung controller',
    { addresses: [], condition: pending },
    cluster(hung),
    'pending',
    'controller-hung',
    'pending',
  ],
  ['a pending change', { condition: pending }, cluster(), 'degraded', 'pending'],
  ['refused', { addresses: [], condition: refused }, cluster(), 'not-served', 'refused'],
  [
    'another controller set the address',
    { provider: { kind: 'none' }, condition: undefined },
    cluster(),
    'serving',
    'foreign',
  ],
  [
    'an unreadable record',
    { provider: { kind: 'unreadable', problem: 'x' } },
    cluster(),
    'not-served',
    'record-unreadable',
  ],
  [
    'being deleted',
    { deletion: { since: before(9), waitsFor: 'a/b' } },
    cluster(),
    'deleting',
    'deleting',
  ],
  ['of another type', { ...unmatched, isLoadBalancer: false }, cluster(), 'internal'],
];

describe('the health of a Service', () => {
  const cases = rows.map(([name, changes, facts, state, ...causes]) => ({
    name,
    changes,
    facts,
    state,
    causes,
  }));
  test.each(cases)('$name', ({ changes, facts, state, causes }) => {
    const health = serviceHealth(service(changes), clusterHealth(facts));
    expect(health.state).toBe(state);
    expect(health.causes.map(({ code }) => code)).toEqual(causes);
    expect(health.causes.every(({ message }) => message !== '')).toBe(true);
  });
});

test('the state of each family and gateway is known', () => {
  const facts = on(active({ alarms: [cutOff6] }), standby());
  const changes = { addresses: twoFamilies, endpoints: bothReady };
  const { families } = serviceHealth(service(changes), clusterHealth(facts));
  expect(families.map(({ family, state }) => [family, state])).toEqual([
    [4, 'serving'],
    [6, 'not-served'],
  ]);
  expect(families[1]?.gateways.map(({ gateway: name, ability }) => [name, ability])).toEqual([
    ['a', 'unable'],
    ['b', 'able'],
  ]);
});

test('a Service that is prepared for a minute is a problem', () => {
  const waiting = (since: number) => {
    const changes = { addresses: [], condition: { ...pending, since: before(since) } };
    return isProblem(serviceHealth(service(changes), clusterHealth(cluster())), now);
  };
  expect(waiting(10_000)).toBe(false);
  expect(waiting(70_000)).toBe(true);
  const hungToo = { addresses: [], condition: { ...pending, since: before(1_000) } };
  expect(isProblem(serviceHealth(service(hungToo), clusterHealth(cluster(hung))), now)).toBe(true);
});
