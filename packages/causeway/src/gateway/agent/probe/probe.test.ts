import { describe, expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePort, type Protocol } from '@causeway/base/address/port';
import { agreedHealth } from './agreed-health.ts';
import { ProbeResults } from './probe-results.ts';
import { probeTargets, TargetsOfState } from './targets.ts';
import { endpointKey, makeEndpoint, type Endpoint } from '../../protocol/endpoint.ts';
import { emptyState, StateHolder, type GatewayState } from '../store/state.ts';

const [a, b, c] = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map(parseAddress) as [
  ReturnType<typeof parseAddress>,
  ReturnType<typeof parseAddress>,
  ReturnType<typeof parseAddress>,
];

function ledgerAfter(...rounds: string[]): ProbeResults {
  const ledger = new ProbeResults({ fall: 2, rise: 2 });
  for (const round of rounds) {
    ledger.beginRound(new Set([a, b, c]));
    for (const [index, answer] of round.split('').entries()) {
      const address = [a, b, c][index];
      if (address !== undefined) ledger.record(address, answer === '+');
    }
  }
  return ledger;
}

const rounds = (count: number, round: string) => Array<string>(count).fill(round);

describe('who is silent', () => {
  test.each([
    ['everybody answers', ['+++', '+++'], []],
    ['one probe unanswered is no silence', ['+++', '-++'], []],
    ['two in a row are', ['+++', '-++', '-++'], [a]],
    ['two that are not in a row are not', ['+++', '-++', '+++', '-++'], []],
    ['who never answered is not judged', ['-++', '-++', '-++'], []],
    ['one answer does not bring it back', ['+++', '-++', '-++', '+++'], [a]],
    ['two answers do', ['+++', '-++', '-++', '+++', '+++'], []],
    ['when all go, it is us', ['+++', '---', '---'], []],
    ['who had gone long before stays out', ['+++', ...rounds(7, '-++'), '---', '---'], [a]],
    ['who went just before does not', ['+++', ...rounds(3, '-++'), '---', '---'], []],
    ['when one is back, all others are out', ['+++', '---', '---', '+--', '+--'], [b, c]],
    ['all but one', ['+++', '--+', '--+'], [a, b]],
    ['a gateway that only ever heard one of three', ['+--', '---', '---'], [a]],
  ])('%s', (_name, rounds, expected) => {
    expect([...ledgerAfter(...rounds).unhealthy]).toEqual(expected);
  });

  test('who is no longer probed is forgotten', () => {
    const ledger = ledgerAfter('+++', '-++', '-++');
    expect(ledger.beginRound(new Set([b, c]))).toBe(true);
    expect(ledger.beginRound(new Set([b, c]))).toBe(false);
    expect(ledger.unhealthy.size).toBe(0);
    expect(ledger.cutOff).toEqual([]);
  });

  test('that we are cut off begins and ends with who is probed, and both are told', () => {
    const ledger = ledgerAfter('+++', '--+', '--+');
    expect(ledger.beginRound(new Set([a, b]))).toBe(true);
    expect(ledger.cutOff).toEqual([4]);
    expect(ledger.record(c, true)).toBe(true);
    expect([...ledger.unhealthy]).toEqual([a, b]);
  });

  test('a gateway that reaches backends of one family alone is cut off in the other', () => {
    const [d, e] = ['2001:db8::1', '2001:db8::2'].map(parseAddress) as [Address, Address];
    const ledger = new ProbeResults({ fall: 2, rise: 2 });
    const probe = (ipv4: boolean, ipv6: boolean) => {
      ledger.beginRound(new Set([a, b, d, e]));
      for (const address of [a, b]) ledger.record(address, ipv4);
      for (const address of [d, e]) ledger.record(address, ipv6);
    };
    probe(true, true);
    probe(false, true);
    probe(false, true);
    expect(ledger.cutOff).toEqual([4]);
    expect([...ledger.unhealthy]).toEqual([]);
    probe(true, true);
    probe(true, true);
    expect(ledger.cutOff).toEqual([]);
  });

  test('those whom the controller names and those whom the gateway sees; while it is away, the latter', () => {
    const own = new Set([a]);
    const handed = new Set([b]);
    expect(agreedHealth({ own, handed, isControllerPresent: true })).toEqual(new Set([a, b]));
    expect(agreedHealth({ own, handed: undefined, isControllerPresent: true })).toBe(own);
    expect(agreedHealth({ own, handed, isControllerPresent: false })).toBe(own);
  });
});

const health = parsePort(10256);
const other = parseAddress('2001:db8::1');

function stateWith(...endpoints: Endpoint[]): GatewayState {
  return {
    ...emptyState,
    endpoints: new Map(endpoints.map((each) => [endpointKey(each), each])),
    nodes: new Map([[b, { address: b }]]),
  };
}

/** An endpoint at this port that is sent to the same one of each of these. */
function endpointTo(port: number, destinations: readonly Address[], protocol: Protocol = 'TCP') {
  const isIpv6 = destinations.includes(other);
  return makeEndpoint({
    address: parseAddress(isIpv6 ? '2001:db8::80' : '192.0.2.1'),
    protocol,
    port: parsePort(port),
    destinations: destinations.map((address) => ({ address, port: parsePort(port), weight: 1 })),
  });
}

describe('what is knocked at', () => {
  const pods = [a, c];
  const dns = endpointTo(53, pods, 'UDP');
  const web = endpointTo(8080, pods);
  const secure = endpointTo(8443, pods);

  test.each<[string, readonly Endpoint[], readonly (readonly [Address, number])[]]>([
    [
      'every destination once, on TCP where it has that',
      [dns, web, secure],
      [
        [a, 8080],
        [c, 8080],
      ],
    ],
    [
      'in whatever order they stand',
      [secure, web, dns],
      [
        [a, 8080],
        [c, 8080],
      ],
    ],
    [
      'a node on the port of its health, also where a service is sent to its node port',
      [endpointTo(30_080, [b])],
      [],
    ],
    [
      'no cluster address: who is alone at every port and in every family is sent to anyway',
      [endpointTo(80, [a]), endpointTo(81, [a]), endpointTo(80, [other])],
      [],
    ],
    [
      'a pod that is alone at one port and in company at another',
      [endpointTo(80, [a]), web],
      [
        [a, 8080],
        [c, 8080],
      ],
    ],
  ])('%s', (_, endpoints, expected) => {
    const found = probeTargets(stateWith(...endpoints), health);
    expect([...found]).toEqual([...expected, [b, health]]);
  });

  test('a pod that was in company before and is alone now', () => {
    const before = probeTargets(stateWith(web), health);
    const after = stateWith(endpointTo(8080, [a]), endpointTo(80, [other]));
    expect([...probeTargets(after, health, before)]).toEqual([
      [a, 8080],
      [b, health],
    ]);
  });
});

test('targets are worked out anew when the state has changed, and not before', () => {
  const holder = new StateHolder();
  const targets = new TargetsOfState(parsePort(10256));
  const none = targets.of(holder.current);
  expect([...none]).toEqual([]);
  expect(targets.of(holder.current)).toBe(none);
  const nodes = new Map([[b, { address: b }]]);
  holder.commit({ ...emptyState, generation: 1, nodes });
  expect([...targets.of(holder.current)]).toEqual([[b, 10256]]);
  // Who had company is still knocked at.
  const change = (endpoint: Endpoint) => new Map([[endpointKey(endpoint), endpoint]]);
  holder.commit({ ...emptyState, generation: 2, endpoints: change(endpointTo(80, [a, c])) });
  expect(targets.of(holder.current).size).toBe(3);
  holder.commit({ ...emptyState, generation: 3, endpoints: change(endpointTo(80, [a])) });
  expect([...targets.of(holder.current).keys()]).toEqual([a, b]);
});
