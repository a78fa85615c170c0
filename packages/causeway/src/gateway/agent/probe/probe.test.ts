import { describe, expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePort, type Protocol } from '@causeway/base/address/port';
import { agreedHealth } from './agreed-health.ts';
import { ProbeResults } from './probe-results.ts';
import { probeTargets, TargetsOfState } from './targets.ts';
import { frontendKey, makeFrontend, type Frontend } from '../../protocol/frontend.ts';
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

describe('unhealthy backends', () => {
  test.each([
    ['none if all answer', ['+++', '+++'], []],
    ['exclude a backend with one failed probe', ['+++', '-++'], []],
    ['include a backend with two failed probes in a row', ['+++', '-++', '-++'], [a]],
    ['exclude a backend with two failed probes not in a row', ['+++', '-++', '+++', '-++'], []],
    ['exclude a backend that never answered', ['-++', '-++', '-++'], []],
    ['keep a backend after one answer', ['+++', '-++', '-++', '+++'], [a]],
    ['drop a backend after two answers', ['+++', '-++', '-++', '+++', '+++'], []],
    ['none if all fail, because the gateway is cut off', ['+++', '---', '---'], []],
    [
      'keep a backend that failed long before a cut-off',
      ['+++', ...rounds(7, '-++'), '---', '---'],
      [a],
    ],
    [
      'drop a backend that failed just before a cut-off',
      ['+++', ...rounds(3, '-++'), '---', '---'],
      [],
    ],
    ['include all others when one answers again', ['+++', '---', '---', '+--', '+--'], [b, c]],
    ['include all but one', ['+++', '--+', '--+'], [a, b]],
    ['include the only backend that ever answered', ['+--', '---', '---'], [a]],
  ])('%s', (_name, rounds, expected) => {
    expect([...ledgerAfter(...rounds).unhealthy]).toEqual(expected);
  });

  test('drops a backend that is no longer probed', () => {
    const ledger = ledgerAfter('+++', '-++', '-++');
    expect(ledger.beginRound(new Set([b, c]))).toBe(true);
    expect(ledger.beginRound(new Set([b, c]))).toBe(false);
    expect(ledger.unhealthy.size).toBe(0);
    expect(ledger.cutOff).toEqual([]);
  });

  test('reports when the cut-off state begins and ends with a change of targets', () => {
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

function stateWith(...frontends: Frontend[]): GatewayState {
  return {
    ...emptyState,
    frontends: new Map(frontends.map((each) => [frontendKey(each), each])),
    nodes: new Map([[b, { address: b }]]),
  };
}

/** A frontend at this port with these backends at the same port. */
function frontendTo(port: number, destinations: readonly Address[], protocol: Protocol = 'TCP') {
  const isIpv6 = destinations.includes(other);
  return makeFrontend({
    address: parseAddress(isIpv6 ? '2001:db8::80' : '192.0.2.1'),
    protocol,
    port: parsePort(port),
    destinations: destinations.map((address) => ({ address, port: parsePort(port), weight: 1 })),
  });
}

describe('probe targets', () => {
  const pods = [a, c];
  const dns = frontendTo(53, pods, 'UDP');
  const web = frontendTo(8080, pods);
  const secure = frontendTo(8443, pods);

  test.each<[string, readonly Frontend[], readonly (readonly [Address, number])[]]>([
    [
      'include every backend once, on TCP if it has a TCP port',
      [dns, web, secure],
      [
        [a, 8080],
        [c, 8080],
      ],
    ],
    [
      'do not depend on the order of frontends',
      [secure, web, dns],
      [
        [a, 8080],
        [c, 8080],
      ],
    ],
    [
      'include a node at its health port, even if a Service uses its node port',
      [frontendTo(30_080, [b])],
      [],
    ],
    [
      'exclude a cluster address and other backends without an alternative',
      [frontendTo(80, [a]), frontendTo(81, [a]), frontendTo(80, [other])],
      [],
    ],
    [
      'exclude draining backends, which are no alternative either',
      [
        makeFrontend({
          ...frontendTo(80, []),
          destinations: [
            { address: a, port: parsePort(80), weight: 1 },
            { address: c, port: parsePort(80), weight: 0 },
          ],
        }),
      ],
      [],
    ],
    [
      'include a pod that has an alternative at one of its ports',
      [frontendTo(80, [a]), web],
      [
        [a, 8080],
        [c, 8080],
      ],
    ],
  ])('%s', (_, frontends, expected) => {
    const found = probeTargets(stateWith(...frontends), health);
    expect([...found]).toEqual([...expected, [b, health]]);
  });

  test('keep a pod that had an alternative before and has none now', () => {
    const before = probeTargets(stateWith(web), health);
    const after = stateWith(frontendTo(8080, [a]), frontendTo(80, [other]));
    expect([...probeTargets(after, health, before)]).toEqual([
      [a, 8080],
      [b, health],
    ]);
  });
});

test('recomputes targets only when the state has changed', () => {
  const holder = new StateHolder();
  const targets = new TargetsOfState(parsePort(10256));
  const none = targets.of(holder.current);
  expect([...none]).toEqual([]);
  expect(targets.of(holder.current)).toBe(none);
  const nodes = new Map([[b, { address: b }]]);
  holder.commit({ ...emptyState, generation: 1, nodes });
  expect([...targets.of(holder.current)]).toEqual([[b, 10256]]);
  // A backend that had an alternative before is still probed.
  const change = (frontend: Frontend) => new Map([[frontendKey(frontend), frontend]]);
  holder.commit({ ...emptyState, generation: 2, frontends: change(frontendTo(80, [a, c])) });
  expect(targets.of(holder.current).size).toBe(3);
  holder.commit({ ...emptyState, generation: 3, frontends: change(frontendTo(80, [a])) });
  expect([...targets.of(holder.current).keys()]).toEqual([a, b]);
});
