import { expect, test } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { Debounce } from './debounce.ts';

test('joins many changes into one, with a limit for the delay', async () => {
  const clock = new SimulatedClock();
  const debounce = new Debounce({ clock, quietMs: 1_000, longestMs: 5_000 });
  const acts: number[] = [];
  const change = () => debounce.after('web', () => acts.push(clock.monotonic()));
  for (let count = 0; count < 100; count += 1) {
    change();
    await clock.advance(10);
  }
  await clock.advance(2_000);
  expect(acts).toEqual([1_990]);
  for (let count = 0; count < 12; count += 1) {
    change();
    await clock.advance(900);
  }
  expect(acts.length).toBe(3);
  debounce.stop();
  await clock.advance(10_000);
  expect(acts.length).toBe(3);
});
