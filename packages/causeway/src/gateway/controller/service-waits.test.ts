import { expect, test } from 'vitest';
import type { Serving } from './fleet/agent-fleet.ts';
import { isOver, ServiceWaits, type GatewayFacts, type GatewayWait } from './service-waits.ts';

const served: Serving = { kind: 'served' };
const waiting: Serving = { kind: 'waiting', message: 'Waiting for g1' };
const wrong: Serving = { kind: 'wrong', messages: ['no'] };

const facts = (
  serving: Serving,
  behind: readonly string[] = [],
  withholding: readonly string[] = [],
): GatewayFacts => ({
  servingSince: () => serving,
  behind: () => behind,
  withholding: () => withholding,
});
const serving: GatewayWait = { kind: 'serving', generation: 7, frontends: [] };
const removal: GatewayWait = { kind: 'removal', generation: 7 };

test.each([
  ['the gateways are behind', serving, facts(waiting), false],
  ['the gateways serve it', serving, facts(served), true],
  ['a gateway rejects it', serving, facts(wrong), true],
  ['a gateway is behind', removal, facts(served, ['g1']), false],
  ['a gateway withholds the removal', removal, facts(served, [], ['g1']), false],
  ['no gateway serves it', removal, facts(served), true],
  ['the network may have changed', { kind: 'network' } as const, facts(waiting), true],
])('if %s', (_title, wait, known, over) => {
  expect(isOver('default/a', wait, known)).toBe(over);
});

test('takes each ended wait once, and keeps the others', () => {
  const waits = new ServiceWaits();
  waits.forGateways('default/a', serving);
  waits.forGateways('default/b', { kind: 'network' });
  expect(waits.takeEnded(facts(waiting))).toEqual(['default/b']);
  expect(waits.takeEnded(facts(served))).toEqual(['default/a']);
  expect(waits.takeEnded(facts(served))).toEqual([]);
});

test('keeps the Services that want an address until one becomes free', () => {
  const waits = new ServiceWaits();
  waits.forAddress('default/a');
  waits.forAddress('default/a');
  expect(waits.takeEnded(facts(served))).toEqual([]);
  expect(waits.takeForAddress()).toEqual(['default/a']);
  expect(waits.takeForAddress()).toEqual([]);
});
