import { expect, test } from 'vitest';
import { pauseAfterResync } from './housekeeping.ts';

test.each([
  ['a quick look is repeated soon', 100, 30_000],
  ['one of a few seconds takes a twentieth of the time', 5_000, 95_000],
  ['one that takes long is repeated all the same', 60_000, 300_000],
])('%s', (_what, tookMs, pauseMs) => {
  expect(pauseAfterResync(tookMs, 30_000, 300_000)).toBe(pauseMs);
});

test('nothing is looked at less often than asked for', () => {
  expect(pauseAfterResync(0, 30_000, 10_000)).toBe(10_000);
});
