import { expect, test } from 'vitest';
import { isErrorCode } from '../error/causeway-error.ts';
import { sleep, systemClock } from './clock.ts';
import { withDeadline } from './deadline.ts';
import { SimulatedClock } from './simulated-clock.ts';

test('ends a sleep at its time or at once on abort, and leaves no timer', async () => {
  const clock = new SimulatedClock();
  const whole = sleep(clock, 100);
  await clock.advance(100);
  await whole;
  const stop = new AbortController();
  const cut = sleep(clock, 100, stop.signal);
  stop.abort();
  await expect(cut).rejects.toSatisfy((error) => isErrorCode(error, 'aborted'));
  await expect(sleep(clock, 100, stop.signal)).rejects.toThrow('aborted');
  expect(clock.pendingTimers).toBe(0);
});

test('aborts the work at its deadline with a timeout that names it', async () => {
  const clock = new SimulatedClock();
  const work = withDeadline(clock, 50, undefined, 'asking', (signal) => sleep(clock, 1e6, signal));
  const outcome = expect(work).rejects.toMatchObject({
    code: 'timeout',
    message: 'asking took longer than 50 ms',
  });
  await clock.advance(50);
  await outcome;
  expect(clock.pendingTimers).toBe(0);
});

test('removes the deadline when the work has ended', async () => {
  const clock = new SimulatedClock();
  expect(await withDeadline(clock, 50, undefined, 'asking', () => Promise.resolve(1))).toBe(1);
  expect(clock.pendingTimers).toBe(0);
});

test('accepts longer delays than the platform', () => {
  const timer = systemClock.timer(2 ** 33, () => {
    throw new Error('fired at once');
  });
  timer.cancel();
});
