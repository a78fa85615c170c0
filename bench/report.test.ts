import { expect, test } from 'vitest';
import { besideMedian, type Bar } from './benchmark.ts';
import { judge, tableOf } from './report.ts';

const atMost: Bar = { of: 'ratio', comparison: 'at most', limit: 2, unit: 'ms' };
const atLeast: Bar = { of: 'ratio', comparison: 'at least', limit: 0.5, unit: 'MB/s' };
const none: Bar = { of: 'value', comparison: 'exactly', limit: 0, unit: 'writes' };

test("a ratio's bar is compared with the baseline, a value's with the value itself", () => {
  expect(judge('a', atMost, { value: 4, baseline: 2 })).toMatchObject({ ratio: 2, holds: true });
  expect(judge('a', atMost, { value: 5, baseline: 2 }).holds).toBe(false);
  expect(judge('a', atMost, { value: 1, baseline: null }).holds).toBe(false);
  expect(judge('a', atLeast, { value: 1, baseline: 4 }).holds).toBe(false);
  expect(judge('a', none, { value: 0, baseline: null }).holds).toBe(true);
  expect(judge('a', none, { value: 1, baseline: null }).holds).toBe(false);
});

test('a run is a table', () => {
  const figures = [
    judge('restart', atMost, { value: 5, baseline: 2, spread: [2.1, 2.94] }),
    judge('restart-writes', none, { value: 0, baseline: null }),
  ];
  expect(tableOf(figures)).toBe(
    [
      'figure          measured  baseline  ratio  over the repeats  bar',
      'restart         5 ms      2 ms      2.5    2.1 to 2.94       at most 2 x the baseline  BROKEN',
      'restart-writes  0 writes                                     exactly 0 writes          holds',
      '',
    ].join('\n'),
  );
});

test('many values have a spread: that of groups of them against those of the baseline', () => {
  const baselines = Array.from({ length: 10 }, () => 2);
  const values = [2, 2, 4, 4, 4, 4, 4, 4, 6, 6];
  expect(besideMedian(values, baselines)).toEqual({ value: 4, baseline: 2, spread: [1, 3] });
});
