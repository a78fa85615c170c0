import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressFromInteger, parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { buildSlotTable, slotCount } from './slot-table.ts';
import type { Backend } from './virtual-service.ts';

const port = parsePort(8080);

function backend(number: number, weight?: number): Backend {
  const address = addressFromInteger(0x0a000000n + BigInt(number), 4);
  return weight === undefined ? { address, port } : { address, port, weight };
}

/** Backends with addresses all over 10.0.0.0/8, like those of pods and nodes. */
const backendSets = (minLength: number, maxLength: number) =>
  fc
    .uniqueArray(fc.integer({ min: 1, max: 0xffffff }), { minLength, maxLength })
    .map((numbers) => numbers.map((number) => backend(number)));

const seeds = fc.integer({ min: 0, max: 0xffffffff });

/** The share of all clients that get another backend. Tables may differ in size. */
function movedShare(before: readonly Backend[], after: readonly Backend[]): number {
  const slots = Math.max(before.length, after.length);
  let moved = 0;
  for (let slot = 0; slot < slots; slot += 1) {
    const old = before[Math.floor((slot * before.length) / slots)];
    const now = after[Math.floor((slot * after.length) / slots)];
    if (old?.address !== now?.address) moved += 1;
  }
  return moved / slots;
}

function load(table: readonly Backend[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { address } of table) counts.set(address, (counts.get(address) ?? 0) + 1);
  return counts;
}

function checkMovement(backends: readonly Backend[], removed: number, seed: number) {
  const rest = backends.filter((_, index) => index !== removed);
  const before = buildSlotTable(backends, seed);
  const after = buildSlotTable(rest, seed);
  const count = backends.length;
  const allowed = before.length === after.length ? 1 / count + 0.15 : 2 / count + 0.15;
  expect(movedShare(before, after), `${count} backends`).toBeLessThanOrEqual(allowed);
}

describe('the slot table', () => {
  test('is empty without backends and has a single slot for a single backend', () => {
    expect(buildSlotTable([], 1)).toEqual([]);
    expect(buildSlotTable([backend(1)], 1)).toEqual([backend(1)]);
  });

  test.each([
    [1, 1],
    [2, 8],
    [3, 32],
    [4, 64],
    [5, 128],
    [8, 128],
    [9, 256],
    [100, 2048],
    [1000, 16_384],
  ])('of %i backends has %i slots', (count, slots) => {
    const backends = Array.from({ length: count }, (_, index) => backend(index));
    expect(slotCount(backends)).toBe(slots);
    expect(buildSlotTable(backends, 7)).toHaveLength(slots);
  });

  test('does not depend on the order of the backends, nor on duplicates', () => {
    fc.assert(
      fc.property(backendSets(1, 40), seeds, (backends, seed) => {
        const table = buildSlotTable(backends, seed);
        expect(buildSlotTable(backends.toReversed(), seed)).toEqual(table);
      }),
      { numRuns: 50 },
    );
  });

  test('gives the busiest backend at most 1.15 times the mean', () => {
    fc.assert(
      fc.property(backendSets(1, 300), seeds, (backends, seed) => {
        const table = buildSlotTable(backends, seed);
        const busiest = Math.max(...load(table).values());
        expect(busiest).toBeLessThanOrEqual((1.15 * table.length) / backends.length);
      }),
      { numRuns: 60 },
    );
  });

  test('moves at most 1/N + 15 % when one of N is removed, 2/N + 15 % where the size changes', () => {
    fc.assert(
      fc.property(backendSets(2, 140), fc.nat(), seeds, (backends, which, seed) => {
        checkMovement(backends, which % backends.length, seed);
      }),
      { numRuns: 300, seed: 20_260_101 },
    );
  });

  test.each([2, 3, 4, 5, 9, 17, 33, 65, 129, 257, 513])(
    'keeps that across the change of size at %i backends, for any removed backend',
    (count) => {
      for (let draw = 0; draw < (count < 20 ? 40 : 2); draw += 1) {
        const backends = Array.from({ length: count }, (_, i) => backend(draw * 977 + i * 13));
        const step = Math.ceil(count / 24);
        for (let removed = 0; removed < count; removed += step) {
          checkMovement(backends, removed, draw);
        }
      }
    },
  );

  test('gives weights their shares of the slots', () => {
    const table = buildSlotTable([backend(1, 1), backend(2, 2), backend(3, 5)], 9);
    const counts = load(table);
    const share = (number: number) =>
      (counts.get(parseAddress(`10.0.0.${number}`)) ?? 0) / table.length;
    expect([share(1), share(2), share(3)]).toEqual([1 / 8, 2 / 8, 5 / 8]);
  });

  test('handles one heavy backend among many light ones', () => {
    const light = Array.from({ length: 100 }, (_, index) => backend(index * 7919 + 1, 1));
    const table = buildSlotTable([backend(0, 1000), ...light], 9);
    const heavy = load(table).get(backend(0).address) ?? 0;
    expect(heavy / table.length).toBeCloseTo(1000 / 1100, 3);
  });

  test('gives each weighted backend at most its allowance, and at least one slot', () => {
    const weighted = fc.uniqueArray(
      fc.record({
        number: fc.integer({ min: 1, max: 5000 }),
        weight: fc.integer({ min: 1, max: 8 }),
      }),
      { minLength: 2, maxLength: 30, selector: (entry) => entry.number },
    );
    fc.assert(
      fc.property(weighted, seeds, (entries, seed) => {
        const table = buildSlotTable(
          entries.map(({ number, weight }) => backend(number, weight)),
          seed,
        );
        const total = entries.reduce((sum, { weight }) => sum + weight, 0);
        const counts = load(table);
        for (const { number, weight } of entries) {
          const fair = (table.length * weight) / total;
          const got = counts.get(backend(number).address) ?? 0;
          const most = Math.max(Math.ceil(fair), fair * 1.15);
          expect(got).toBeLessThanOrEqual(most);
          expect(got).toBeGreaterThan(0);
        }
      }),
      { numRuns: 60 },
    );
  });
});
