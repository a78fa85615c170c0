import { expect, test } from 'vitest';
import type { PoolRow } from '../../console/overview/rows.ts';
import { utilisation } from './pools.ts';

const pool = (total: number, used: number, quarantined: number): PoolRow => ({
  key: 'a/b',
  ranges: [],
  total,
  used,
  quarantined,
  free: total - used - quarantined,
  isDraining: false,
});

test.each([
  [pool(100, 0, 0), '···················· 0 %'],
  [pool(1000, 1, 1), '█▒·················· 0 %'],
  [pool(100, 50, 25), '██████████▒▒▒▒▒····· 50 %'],
  [pool(100, 100, 0), '████████████████████ 100 %'],
  [pool(100, 99, 1), '████████████████████ 99 %'],
  [pool(0, 0, 0), '-'],
])('%o', (row, bar) => {
  expect(utilisation(row)).toBe(bar);
});
