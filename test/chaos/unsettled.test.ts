import { describe, expect, test } from 'vitest';
import { parsePrefix } from '../../packages/base/src/address/prefix.ts';
import type {
  Observation,
  SeenGateway,
  SeenService,
  DesiredService,
  DesiredServices,
} from './observation.ts';
import { findUnsettled } from './unsettled.ts';

const web: SeenService = {
  name: 'web',
  uid: 'uid',
  isDeleting: false,
  isReady: true,
  serviceClass: 'causeway.dev/gateway',
  addresses: ['203.0.113.1'],
  places: [],
  l2Ports: ['port-1'],
};
const desired: DesiredService = {
  serviceClass: 'gateway',
  port: 80,
  targetPort: 9001,
  pods: ['p1'],
  isDualStack: false,
};
const gateway = (name: string, isActive: boolean): SeenGateway => ({
  name,
  isActive,
  rules: new Set(['10.77.128.1']),
  announced: new Set(['10.77.128.1']),
});
const settled: Observation = {
  services: [web],
  cloud: {
    ports: new Map([['port-1', ['10.77.128.1']]]),
    floating: new Map([['203.0.113.1', 'port-1']]),
    allowed: new Map([
      ['g1', [parsePrefix('10.77.0.0/16')]],
      ['g2', [parsePrefix('10.77.0.0/16')]],
    ]),
  },
  gateways: [gateway('g1', true), gateway('g2', false)],
  answers: new Map([
    ['web at 203.0.113.1, port 80', 'p1 9001'],
    ['sleeper', 'p2 9100'],
  ]),
  sleeper: { isMarked: false, replicas: 1 },
  balancers: [],
  reserved: new Set(),
  owners: new Set(),
  others: [],
  discovered: [],
};

function reasons(
  change: Partial<Observation>,
  desiredServices: [string, DesiredService][] = [['web', desired]],
  others: Partial<DesiredServices> = {},
) {
  return findUnsettled(
    { ...settled, ...change },
    { services: new Map(desiredServices), owners: new Set(), balancers: new Set(), ...others },
  );
}

describe('what keeps the system from being recovered', () => {
  test('finds nothing when all is well', () => {
    expect(reasons({})).toEqual([]);
  });

  test.each<[string, Partial<Observation>, string]>([
    ['not served', { services: [{ ...web, isReady: false }] }, 'web is not served'],
    ['no address', { services: [{ ...web, addresses: [] }] }, 'web has the addresses none'],
    [
      'no answer',
      { answers: new Map([['sleeper', 'p2 9100']]) },
      'web at 203.0.113.1, port 80: answered by no backend',
    ],
    [
      'an answer of another Service',
      {
        answers: new Map([
          ['web at 203.0.113.1, port 80', 'p2 9001'],
          ['sleeper', 'p2 9100'],
        ]),
      },
      'web at 203.0.113.1, port 80: answered by p2 9001',
    ],
    [
      'a floating IP that leads nowhere',
      { cloud: { ...settled.cloud, floating: new Map([['203.0.113.9', undefined]]) } },
      'floating IP 203.0.113.9 has no owner',
    ],
    [
      'a gateway that is fenced',
      {
        cloud: {
          ...settled.cloud,
          allowed: new Map([...settled.cloud.allowed, ['g2', [parsePrefix('10.77.0.12/32')]]]),
        },
      },
      'g2 may not use 10.77.128.1',
    ],
    [
      'rules that are left',
      {
        gateways: [
          { ...gateway('g1', true), rules: new Set(['10.77.128.1', '10.77.128.2']) },
          gateway('g2', false),
        ],
      },
      'g1 has rules left for 10.77.128.2',
    ],
    [
      'an address that is not announced',
      { gateways: [gateway('g1', true), { ...gateway('g2', false), announced: new Set() }] },
      'g2 does not announce 10.77.128.1',
    ],
    [
      'an idled Service that is not awake',
      { sleeper: { isMarked: false, replicas: 0 } },
      'the idled Service has 0 replicas',
    ],
    [
      'an awake Service that still has its mark',
      { sleeper: { isMarked: true, replicas: 1 } },
      'the idled Service still has its mark',
    ],
    [
      'an idled Service that does not answer',
      { answers: new Map([['web at 203.0.113.1, port 80', 'p1 9001']]) },
      'the idled Service is answered by no backend',
    ],
    [
      'no rules',
      { gateways: [gateway('g1', true), { ...gateway('g2', false), rules: new Set() }] },
      'g2 has no rules for 10.77.128.1',
    ],
    [
      'an address that is still announced',
      {
        gateways: [
          gateway('g1', true),
          { ...gateway('g2', false), announced: new Set(['10.77.128.1', '10.77.128.2']) },
        ],
      },
      'g2 still announces 10.77.128.2',
    ],
    [
      'a load balancer in the other project that is not discovered',
      { others: [{ id: 'x', name: 'theirs' }] },
      'theirs is not discovered',
    ],
    [
      'a load balancer that is discovered twice',
      { others: [{ id: 'x', name: 'theirs' }], discovered: ['a-x', 'b-x'] },
      'theirs is not discovered',
    ],
    [
      'two active gateways',
      { gateways: [gateway('g1', true), gateway('g2', true)] },
      '2 gateways are active',
    ],
    [
      'an address in the ledger',
      { reserved: new Set(['192.0.2.1']) },
      'the ledger has 192.0.2.1 without a Service',
    ],
    ['an owner in the ledger', { owners: new Set(['x']) }, 'the ledger still has x'],
    [
      'a Service without a load balancer',
      { discovered: ['cloud-x'] },
      'the Service cloud-x belongs to a deleted load balancer',
    ],
    [
      'a gateway that does not answer',
      { gateways: [gateway('g1', true)] },
      'a gateway does not answer',
    ],
  ])('%s', (_, change, reason) => {
    const balancers = new Set((change.others ?? []).map(({ name }) => name));
    expect(reasons(change, [['web', desired]], { balancers })).toEqual([reason]);
  });

  test('requests of others that were not fulfilled', () => {
    expect(reasons({}, [['web', desired]], { owners: new Set(['x']) })).toEqual([
      'the ledger does not have x',
    ]);
    expect(reasons({}, [['web', desired]], { balancers: new Set(['theirs']) })).toEqual([
      'theirs was not made',
    ]);
    const others = [{ id: 'x', name: 'theirs' }];
    expect(reasons({ others, discovered: ['a-x'] })).toEqual(['theirs was not removed']);
  });

  test('a port that a Service names and that is not in the cloud', () => {
    const services = [{ ...web, l2Ports: ['port-1', 'port-9'] }];
    expect(reasons({ services })).toEqual(['port port-9 is not in the cloud']);
  });

  test('a Service of a pool without a reservation for its address', () => {
    const pool = { ...web, serviceClass: 'causeway.dev/pool', l2Ports: [] };
    const empty: Partial<Observation> = {
      services: [pool],
      cloud: { ...settled.cloud, ports: new Map(), floating: new Map() },
      gateways: settled.gateways.map((each) => ({
        ...each,
        rules: new Set<string>(),
        announced: new Set<string>(),
      })),
    };
    const pooled: [string, DesiredService][] = [['web', { ...desired, serviceClass: 'pool' }]];
    expect(reasons({ ...empty, reserved: new Set(['203.0.113.1']) }, pooled)).toEqual([]);
    expect(reasons(empty, pooled)).toEqual(['the ledger has not reserved 203.0.113.1']);
  });

  test('a port that no Service names', () => {
    const ports = new Map([...settled.cloud.ports, ['port-2', []] as const]);
    expect(reasons({ cloud: { ...settled.cloud, ports } })).toEqual(['port port-2 has no owner']);
  });

  test('a deleted Service that still exists, and a missing one', () => {
    const other = { ...desired, port: 81 };
    expect(reasons({}, [['other', other]])).toEqual(['web is still there', 'other is missing']);
  });

  test('a load balancer is judged by its configuration in Octavia', () => {
    const service = { ...web, serviceClass: 'causeway.dev/octavia', l2Ports: [] };
    const balancer = { id: 'lb', status: 'ACTIVE', vipPort: 'vip', vip: '10.76.0.9' };
    const seen = (ways: string[]): Partial<Observation> => ({
      services: [service],
      balancers: [{ ...balancer, ways }],
      cloud: { ...settled.cloud, ports: new Map(), floating: new Map([['203.0.113.1', 'vip']]) },
      gateways: settled.gateways.map((each) => ({
        ...each,
        rules: new Set(),
        announced: new Set(),
      })),
    });
    const octavia: DesiredService = { ...desired, serviceClass: 'octavia' };
    expect(reasons(seen(['80 to 10.79.1.2:9001']), [['web', octavia]])).toEqual([]);
    expect(reasons(seen(['80 to 10.79.2.2:9001']), [['web', octavia]])).toEqual([
      'the load balancer of web leads 80 to 10.79.2.2:9001',
    ]);
    expect(reasons({ ...seen([]), services: [] }, [])).toEqual(['load balancer lb has no owner']);
    const stuck = [{ ...balancer, ways: [], status: 'PENDING_UPDATE' }];
    expect(reasons({ ...seen([]), balancers: stuck }, [['web', octavia]])).toEqual([
      'the load balancer of web is PENDING_UPDATE',
    ]);
  });
});
