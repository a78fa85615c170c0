import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { parsePrefix } from '@causeway/base/address/prefix';
import { applyOperations } from '../plan/apply-operations.ts';
import { buildRuleset, Layout } from './layout.ts';
import { isRouted, routedRuleset } from './routed-ruleset.ts';
import type { Ruleset } from '../model/ruleset.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Dispatch, LayoutSettings, VirtualService } from './virtual-service.ts';

const settings: LayoutSettings = {
  table: 'causeway',
  hashSeed: 1,
  localSources: [],
  hairpin: false,
  resumeConnections: false,
};
const toPod: Dispatch = {
  kind: 'slots',
  backends: [{ address: parseAddress('10.0.0.1'), port: parsePort(8080) }],
};
const ranges = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => {
    const value = (first + index) * 2;
    return parsePrefix(`10.${value >> 16}.${(value >> 8) & 255}.${value & 255}/32`);
  });

function ports(
  count: number,
  sourceRanges: VirtualService['sourceRanges'],
  dispatch = toPod,
): VirtualService[] {
  return Array.from({ length: count }, (_, index) => ({
    address: parseAddress('192.0.2.1'),
    protocol: 'TCP',
    dispatch,
    port: parsePort(1000 + index),
    ...(sourceRanges === undefined ? {} : { sourceRanges }),
  }));
}

function elementCount({ operations }: Transaction): number {
  return operations.reduce(
    (sum, operation) => sum + (operation.op === 'add-elements' ? operation.elements.length : 0),
    0,
  );
}

const rangeSets = (ruleset: Ruleset) =>
  [...ruleset.sets.values()].filter(({ definition }) => definition.name.startsWith('ranges-'));

test('the kernel stores the ranges of a Service once, for any number of ports', () => {
  const services = ports(1000, ranges(2000));
  const restricted = Layout.plan({ settings, services }).plan;
  const open = Layout.plan({ settings, services: ports(1000, undefined) }).plan;
  expect(elementCount(restricted.transaction) - elementCount(open.transaction)).toBe(2000);
  // One set, one chain for all ports, and the rules of that chain.
  const extra = restricted.transaction.operations.length - open.transaction.operations.length;
  expect(extra).toBeLessThanOrEqual(4);
});

test('equal lists share one set, across Services', () => {
  const services = [...ports(2, ranges(5)), ...ports(4, ranges(5)).slice(2)];
  expect(rangeSets(buildRuleset({ settings, services }))).toHaveLength(1);
});

test('a set is removed with the last port that uses it', () => {
  const services = ports(2, ranges(5));
  const { layout, plan } = Layout.plan({ settings, services });
  plan.accept();
  const [first, second] = services;
  const keys = [...layout.services.keys()];
  if (first === undefined || second === undefined) throw new Error('there are two');
  const one = layout.plan({ remove: keys.slice(0, 1) });
  expect(one.transaction.operations.map(({ op }) => op)).not.toContain('remove-set');
  one.accept();
  const two = layout.plan({ remove: keys.slice(1) });
  expect(two.transaction.operations.map(({ op }) => op)).toContain('remove-set');
});

test('changed ranges create another set in the same transaction, with the same result', () => {
  const { layout, plan } = Layout.plan({ settings, services: ports(3, ranges(5)) });
  plan.accept();
  const before = layout.ruleset();
  const after = ports(3, ranges(5, 3));
  const change = layout.plan({ set: after });
  const changed = applyOperations(before, change.transaction.operations);
  const built = buildRuleset({ settings, services: after });
  expect(changed.chains).toEqual(built.chains);
  expect(changed.sets).toEqual(built.sets);
});

test('the table that routes packets unchanged shares the ranges too', () => {
  const nodes = [parseAddress('10.0.0.1'), parseAddress('10.0.0.2')];
  const services = ports(1000, ranges(2000), { kind: 'nodes-unchanged' }).filter(isRouted);
  const ruleset = routedRuleset(4, settings, services, nodes);
  if (ruleset === undefined) throw new Error('there are routed services');
  expect(rangeSets(ruleset).map(({ elements }) => elements.size)).toEqual([2000]);
  const admitting = [...ruleset.chains.keys()].filter((name) => name.startsWith('admit-'));
  expect(admitting).toHaveLength(1);
});
