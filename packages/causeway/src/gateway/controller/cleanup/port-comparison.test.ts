import { expect, test } from 'vitest';
import { pauseAfterResync } from './port-comparison.ts';

test.each([
  ['repeats a quick check soon', 100, 30_000],
  ['spends a twentieth of the time on a check of a few seconds', 5_000, 95_000],
  ['repeats a long check within the limit', 60_000, 300_000],
])('%s', (_what, tookMs, pauseMs) => {
  expect(pauseAfterResync(tookMs, 30_000, 300_000)).toBe(pauseMs);
});

test('never waits longer than the configured limit', () => {
  expect(pauseAfterResync(0, 30_000, 10_000)).toBe(10_000);
});
