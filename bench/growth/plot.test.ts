import { expect, test } from 'vitest';
import type { Curve } from './curve.ts';
import { plot } from './plot.ts';

const point = (at: number, ratio: number) => ({ at, ratio, low: ratio / 2, high: ratio * 2 });
const curve: Curve = {
  title: 'One change <among many>',
  along: 'Services',
  baseline: 'one call',
  series: [
    { name: 'ours', points: [point(10, 1), point(1_000, 1)] },
    { name: 'theirs', points: [point(10, 1), point(1_000, 100)] },
  ],
};

const places = (svg: string) =>
  [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [
    Number(x),
    Number(y),
  ]);

test('a flat line is flat, and a growing one rises', () => {
  const [ourFirst, ourLast, theirFirst, theirLast] = places(plot(curve));
  expect(ourFirst?.[1]).toBe(ourLast?.[1]);
  expect(theirLast?.[1]).toBeLessThan(theirFirst?.[1] ?? 0);
});

test('the middle of a logarithmic axis is the geometric mean', () => {
  const series = [{ name: 'ours', points: [point(1, 1), point(100, 1), point(10_000, 1)] }];
  const [first, middle, last] = places(plot({ ...curve, series })).map(([x = 0]) => x);
  expect(middle).toBeCloseTo(((first ?? 0) + (last ?? 0)) / 2, 0);
});

test("labels of lines don't overlap, and are escaped", () => {
  const svg = plot({
    ...curve,
    series: ['a & b', 'c', 'd'].map((name) => ({ name, points: [point(10, 1)] })),
  });
  expect(svg).toContain('One change &lt;among many&gt;');
  const heights = ['a &amp; b', 'c', 'd'].map((name) =>
    Number(new RegExp(`y="([\\d.]+)" fill="[^"]+">${name}<`).exec(svg)?.[1]),
  );
  expect((heights[1] ?? 0) - (heights[0] ?? 0)).toBeGreaterThanOrEqual(16);
  expect((heights[2] ?? 0) - (heights[1] ?? 0)).toBeGreaterThanOrEqual(16);
});
