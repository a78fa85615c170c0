import { expect, test } from 'vitest';
import { inRounds, Ratios } from './curve.ts';

test('a point is the median of its rounds, with the lowest and the highest', () => {
  const ratios = new Ratios();
  for (const ratio of [3, 1, 2]) ratios.add('ours', 10, ratio);
  ratios.add('theirs', 10, 7);
  expect(ratios.series()).toEqual([
    { name: 'ours', points: [{ at: 10, ratio: 2, low: 1, high: 3 }] },
    { name: 'theirs', points: [{ at: 10, ratio: 7, low: 7, high: 7 }] },
  ]);
});

test('every subject is compared with a baseline of its own round and place', async () => {
  let baselines = 0;
  const subject = (at: number) => ({ series: 'ours', at, measure: () => Promise.resolve(12) });
  const series = await inRounds(2, [subject(1), subject(2)], (at) => {
    baselines += 1;
    return Promise.resolve(at * 2);
  });
  expect(baselines).toBe(4);
  expect(series).toEqual([
    {
      name: 'ours',
      points: [
        { at: 1, ratio: 6, low: 6, high: 6 },
        { at: 2, ratio: 3, low: 3, high: 3 },
      ],
    },
  ]);
});
