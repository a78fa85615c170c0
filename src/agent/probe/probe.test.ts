import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../domain/address.ts';
import { parsePort } from '../../domain/port.ts';
import { agreedSilence } from './agreed-silence.ts';
import { ProbeLedger } from './probe-ledger.ts';
import { probeTargets, TargetsOfState } from './targets.ts';
import { makeEndpoint } from '../model/endpoint.ts';
import { emptyState, StateHolder } from '../model/state.ts';
import { endpointKey } from '../model/endpoint.ts';

const [a, b, c] = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map(parseAddress) as [
  ReturnType<typeof parseAddress>,
  ReturnType<typeof parseAddress>,
  ReturnType<typeof parseAddress>,
];

function ledgerAfter(...rounds: string[]): ProbeLedger {
  const ledger = new ProbeLedger({ fall: 2, rise: 2 });
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
    expect([...ledgerAfter(...rounds).silent]).toEqual(expected);
  });

  test('who is no longer probed is forgotten', () => {
    const ledger = ledgerAfter('+++', '-++', '-++');
    expect(ledger.beginRound(new Set([b, c]))).toBe(true);
    expect(ledger.beginRound(new Set([b, c]))).toBe(false);
    expect(ledger.silent.size).toBe(0);
    expect(ledger.isCutOff).toBe(false);
  });

  test('that we are cut off begins and ends with who is probed, and both are told', () => {
    const ledger = ledgerAfter('+++', '--+', '--+');
    expect(ledger.beginRound(new Set([a, b]))).toBe(true);
    expect(ledger.isCutOff).toBe(true);
    expect(ledger.record(c, true)).toBe(true);
    expect([...ledger.silent]).toEqual([a, b]);
  });

  test('those whom the controller names and those whom the gateway sees; while it is away, the latter', () => {
    const own = new Set([a]);
    const handed = new Set([b]);
    expect(agreedSilence({ own, handed, isControllerPresent: true })).toEqual(new Set([a, b]));
    expect(agreedSilence({ own, handed: undefined, isControllerPresent: true })).toBe(own);
    expect(agreedSilence({ own, handed, isControllerPresent: false })).toBe(own);
  });
});

test('every destination is knocked at once, on TCP where it has that', () => {
  const endpoint = (protocol: 'TCP' | 'UDP', port: number) =>
    makeEndpoint({
      address: parseAddress('192.0.2.1'),
      protocol,
      port: parsePort(port),
      destinations: [{ address: a, port: parsePort(port), weight: 1 }],
    });
  const endpoints = [endpoint('UDP', 53), endpoint('TCP', 8080), endpoint('TCP', 8443)];
  const state = {
    ...emptyState,
    endpoints: new Map(endpoints.map((each) => [endpointKey(each), each])),
    nodes: new Map([[b, { address: b }]]),
  };
  expect([...probeTargets(state, parsePort(10250))]).toEqual([
    [a, 8080],
    [b, 10250],
  ]);
  // In whatever order they stand.
  const turned = { ...state, endpoints: new Map([...state.endpoints].reverse()) };
  expect(probeTargets(turned, parsePort(10250)).get(a)).toBe(8080);
});

test('a node is knocked at on its kubelet, also where a service is sent to its node port', () => {
  const local = makeEndpoint({
    address: parseAddress('192.0.2.1'),
    protocol: 'TCP',
    port: parsePort(80),
    destinations: [{ address: b, port: parsePort(30_080), weight: 1 }],
  });
  const state = {
    ...emptyState,
    endpoints: new Map([[endpointKey(local), local]]),
    nodes: new Map([[b, { address: b }]]),
  };
  expect([...probeTargets(state, parsePort(10250))]).toEqual([[b, 10250]]);
});

test('targets are worked out anew when the state has changed, and not before', () => {
  const holder = new StateHolder();
  const targets = new TargetsOfState(parsePort(10250));
  const none = targets.of(holder.current);
  expect([...none]).toEqual([]);
  expect(targets.of(holder.current)).toBe(none);
  const nodes = new Map([[b, { address: b }]]);
  holder.commit({ ...emptyState, generation: 1, nodes });
  expect([...targets.of(holder.current)]).toEqual([[b, 10250]]);
});
