import { expect, test } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import { NodeGuard } from './node-guard.ts';
import { isEligibleNode } from './nodes.ts';

type Ready = 'True' | 'False' | 'Unknown';
const created = '2026-11-18T10:00:00Z';
const node = (ready: Ready, changed = '2026-11-18T11:00:00Z', labels = {}): Node => ({
  metadata: { creationTimestamp: created, labels },
  status: { conditions: [{ type: 'Ready', status: ready, lastTransitionTime: changed }] },
});

function start(count: number) {
  const clock = new SimulatedClock();
  const calls: (string | undefined)[] = [];
  const guard: NodeGuard = new NodeGuard(clock, () => calls.push(guard.report?.message));
  const names = Array.from({ length: count }, (_, index) => `n${index + 1}`);
  for (const name of names) guard.set(name, node('True'));
  const eligible = () => [...guard.values()].filter(isEligibleNode).length;
  return { clock, calls, guard, names, eligible };
}

test('a node that is not ready is not eligible while most are ready', () => {
  const { guard, eligible, calls } = start(4);
  guard.set('n1', node('Unknown'));
  guard.set('n2', node('False'));
  expect(eligible()).toBe(2);
  expect(calls).toEqual([]);
});

test('all nodes stay eligible when more than half are not ready, until most are ready again', () => {
  const { guard, names, eligible, calls } = start(4);
  for (const name of names) guard.set(name, node('Unknown'));
  expect(eligible()).toBe(4);
  expect(guard.report).toMatchObject({
    held: 4,
    message: expect.stringContaining('4 of 4 nodes are not ready'),
  });
  for (const name of ['n1', 'n2']) guard.set(name, node('True'));
  expect(guard.report).toBeUndefined();
  expect(eligible()).toBe(2);
  expect(calls).toEqual([expect.stringContaining('3 of 4'), undefined]);
});

test('a restarted controller keeps nodes that are not ready', () => {
  const guard = new NodeGuard(new SimulatedClock(), () => {});
  for (const name of ['n1', 'n2']) guard.set(name, node('Unknown'));
  expect([...guard.values()].every(isEligibleNode)).toBe(true);
});

test('a new node that has never been ready does not count', () => {
  const { guard, eligible } = start(1);
  for (const name of ['new1', 'new2']) guard.set(name, node('False', created));
  expect(eligible()).toBe(1);
  expect(guard.report).toBeUndefined();
});

test('excluded nodes stay excluded during a mass loss', () => {
  const { guard, names, eligible } = start(3);
  for (const name of names) guard.set(name, node('Unknown'));
  const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': '' };
  guard.set('n1', node('Unknown', undefined, labels));
  expect(eligible()).toBe(2);
});

test('nodes that a list lacks at once stay, and end when they return', () => {
  const { guard, names, eligible } = start(3);
  for (const name of names) guard.set(name, undefined);
  expect(eligible()).toBe(3);
  expect(guard.report?.message).toContain('3 nodes were deleted at once, and 0 are left');
  for (const name of names) guard.set(name, node('True'));
  expect(eligible()).toBe(3);
  expect(guard.report).toBeUndefined();
});

test('deleted nodes end after five minutes if others are left, and stay if none is', async () => {
  const some = start(5);
  for (const name of ['n1', 'n2', 'n3']) some.guard.set(name, undefined);
  expect(some.eligible()).toBe(5);
  await some.clock.advance(300_000);
  expect(some.eligible()).toBe(2);
  expect(some.calls.at(-1)).toBeUndefined();
  const all = start(2);
  for (const name of all.names) all.guard.set(name, undefined);
  await all.clock.advance(3_600_000);
  expect(all.eligible()).toBe(2);
});

test('nodes that are deleted one by one over a long time are not kept', async () => {
  const { clock, guard, eligible } = start(4);
  for (const name of ['n1', 'n2', 'n3']) {
    guard.set(name, undefined);
    await clock.advance(61_000);
  }
  expect(eligible()).toBe(1);
  expect(guard.report).toBeUndefined();
});

test('many changes during a mass loss are reported together', async () => {
  const { clock, guard, names, calls } = start(100);
  for (const name of names) guard.set(name, node('Unknown'));
  expect(calls).toHaveLength(1);
  await clock.advance(1_000);
  expect(calls).toHaveLength(2);
  expect(calls.at(-1)).toContain('100 of 100');
});
