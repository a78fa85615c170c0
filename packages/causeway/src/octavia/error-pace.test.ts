import { expect, test } from 'vitest';
import { seededRandom } from '@causeway/base/simulation/random';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { ErrorPace } from './error-pace.ts';

test('each failure in a row delays the next attempt further, and a success resets the delay', async () => {
  const clock = new SimulatedClock();
  const pace = new ErrorPace(clock, seededRandom(1));
  expect(pace.restMs('u1')).toBeLessThanOrEqual(0);
  pace.failed('u1');
  const first = pace.restMs('u1');
  expect(first).toBeGreaterThan(0);
  await clock.advance(first);
  expect(pace.restMs('u1')).toBeLessThanOrEqual(0);
  for (let count = 0; count < 4; count += 1) pace.failed('u1');
  expect(pace.restMs('u1')).toBeGreaterThan(first);
  expect(pace.restMs('u2')).toBeLessThanOrEqual(0);
  pace.drop('u1');
  expect(pace.restMs('u1')).toBeLessThanOrEqual(0);
});
