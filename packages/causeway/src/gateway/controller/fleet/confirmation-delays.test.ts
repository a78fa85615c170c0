import { expect, test } from 'vitest';
import { ConfirmationDelays } from './confirmation-delays.ts';

test('measures how long a gateway has confirmed nothing new', () => {
  const delays = new ConfirmationDelays();
  expect(delays.note('a', 5, 5, 1_000)).toBeUndefined();
  expect(delays.note('a', 5, 6, 2_000)).toBe(0);
  expect(delays.note('a', 5, 9, 7_000)).toBe(5_000);
  expect(delays.note('a', 8, 9, 8_000)).toBe(0);
  expect(delays.note('a', 9, 9, 9_000)).toBeUndefined();
  expect(delays.note('a', 9, 10, 20_000)).toBe(0);
});
