import { describe, expect, test } from 'vitest';
import type { Observation, SeenGateway, SeenService, Wish } from './observation.ts';
import { findUnsettled } from './unsettled.ts';

const web: SeenService = {
  ...{ name: 'web', uid: 'uid', isDeleting: false, isReady: true },
  ...{ addresses: ['203.0.113.1'], ports: ['TCP 80'], l2Ports: ['port-1'] },
};
const wish: Wish = { port: 80, targetPort: 9001, pods: ['p1'], isDualStack: false };
const gateway = (name: string, isMaster: boolean): SeenGateway => ({
  ...{ name, isMaster, rules: new Set(['10.77.128.1']), announced: new Set(['10.77.128.1']) },
});
const settled: Observation = {
  services: [web],
  cloud: {
    ports: new Map([['port-1', ['10.77.128.1']]]),
    floating: new Map([['203.0.113.1', 'port-1']]),
  },
  gateways: [gateway('g1', true), gateway('g2', false)],
  answers: new Map([['web at 203.0.113.1, port 80', 'p1 9001']]),
};

function reasons(change: Partial<Observation>, wishes: [string, Wish][] = [['web', wish]]) {
  return findUnsettled({ ...settled, ...change }, new Map(wishes));
}

describe('what keeps a calm from being one', () => {
  test('nothing where all is well', () => {
    expect(reasons({})).toEqual([]);
  });

  test.each<[string, Partial<Observation>, string]>([
    ['not served', { services: [{ ...web, isReady: false }] }, 'web is not served'],
    ['no address', { services: [{ ...web, addresses: [] }] }, 'web has the addresses none'],
    ['no answer', { answers: new Map() }, 'web at 203.0.113.1, port 80: answered by nobody'],
    [
      'an answer of somebody else',
      { answers: new Map([['web at 203.0.113.1, port 80', 'p2 9001']]) },
      'web at 203.0.113.1, port 80: answered by p2 9001',
    ],
    [
      'a floating IP that leads nowhere',
      { cloud: { ...settled.cloud, floating: new Map([['203.0.113.9', undefined]]) } },
      "floating IP 203.0.113.9 is nobody's",
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
      'two masters',
      { gateways: [gateway('g1', true), gateway('g2', true)] },
      '2 gateways are master',
    ],
    ['a gateway that is away', { gateways: [gateway('g1', true)] }, 'a gateway can not be asked'],
  ])('%s', (_, change, reason) => {
    expect(reasons(change)).toEqual([reason]);
  });

  test('a port that no Service names', () => {
    const ports = new Map([...settled.cloud.ports, ['port-2', []] as const]);
    expect(reasons({ cloud: { ...settled.cloud, ports } })).toEqual(["port port-2 is nobody's"]);
  });

  test('a Service that was deleted, and one that is missing', () => {
    const other = { ...wish, port: 81 };
    expect(reasons({}, [['other', other]])).toEqual(['web is still there', 'other is missing']);
  });
});
