import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffDelay } from './backoff.ts';

const policy = { baseMs: 5, maxMs: 1_000, jitter: 0.2 };

test('doubles from the base up to the limit', () => {
  const exact = { ...policy, jitter: 0 };
  const delays = [1, 2, 3, 8, 9, 5_000].map((failures) => backoffDelay(exact, failures, () => 0));
  expect(delays).toEqual([5, 10, 20, 640, 1_000, 1_000]);
});

test('is finite, never exceeds the limit, and varies by at most the jitter', () => {
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), chance, (failures, random) => {
      const full = backoffDelay({ ...policy, jitter: 0 }, failures, () => 0);
      const delay = backoffDelay(policy, failures, () => random);
      expect(delay).toBeLessThanOrEqual(policy.maxMs);
      expect(delay).toBeLessThanOrEqual(full);
      expect(delay).toBeGreaterThanOrEqual(full * 0.8);
    }),
  );
});
