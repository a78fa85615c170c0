import { expect, test } from 'vitest';
import type { Family } from '@causeway/base/address/address';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { cutOffIllness, Relief } from './relief.ts';

test.each<[string, Family[], boolean, boolean]>([
  ['that reaches its backends is well', [], true, false],
  ['that alone is cut off is ill', [6], true, true],
  ['that is cut off like all others keeps its addresses', [4, 6], false, false],
])('a gateway %s', (_, cutOff, isAvailable, isIll) => {
  expect(cutOffIllness(cutOff, { isAvailable }) !== undefined).toBe(isIll);
});

test('a notice that is not repeated expires', async () => {
  const clock = new SimulatedClock();
  const relief = new Relief(clock);
  expect(relief.isAvailable).toBe(false);
  relief.set(true);
  await clock.advance(29_000);
  expect(relief.isAvailable).toBe(true);
  await clock.advance(2_000);
  expect(relief.isAvailable).toBe(false);
  relief.set(true);
  relief.set(false);
  expect(relief.isAvailable).toBe(false);
});
