import { expect, test } from 'vitest';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { EndpointGuard } from './endpoint-guard.ts';

const slice = (conditions: object): readonly EndpointSlice[] => [
  { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], conditions }], ports: [] },
];
const ready = slice({ ready: true });
const lost = slice({ ready: false, serving: false });
const terminating = slice({ ready: false, terminating: true });

function start(count: number) {
  const changes: string[][] = [];
  const guard = new EndpointGuard((services) => changes.push([...services]));
  const names = Array.from({ length: count }, (_, index) => `s${index + 1}`);
  for (const name of names) guard.set(name, ready);
  return { guard, names, changes };
}

test('keeps the endpoints of Services when most Services lose all of theirs', () => {
  const { guard, names, changes } = start(10);
  for (const name of names.slice(0, 5)) guard.set(name, lost);
  expect(guard.isActive).toBe(false);
  guard.set('s6', lost);
  expect(changes).toEqual([expect.arrayContaining(['s1', 's6'])]);
  expect(guard.isKept('s1')).toBe(true);
  expect(guard.isKept('s7')).toBe(false);
  expect(guard.report).toMatchObject({ held: 6, message: expect.stringContaining('6 of 10') });
  guard.set('s1', ready);
  expect(guard.report).toBeUndefined();
  expect(changes).toHaveLength(2);
});

test.each([
  ['few Services', 4, lost],
  ['Services that end', 10, terminating],
  ['Services that scale to zero', 10, []],
])('does not concern %s', (_name, count, slices) => {
  const { guard, names } = start(count);
  for (const name of names) guard.set(name, slices);
  expect(guard.isActive).toBe(false);
});

test('does not concern Services that were never ready', () => {
  const { guard } = start(1);
  for (let index = 0; index < 10; index += 1) guard.set(`new${index}`, lost);
  expect(guard.isActive).toBe(false);
});
