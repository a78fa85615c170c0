import { expect, test } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { mostReminders, Reminders } from './reminders.ts';

test('the interval grows with each repetition, counts from the last announcement, and the repetitions end', async () => {
  const clock = new SimulatedClock();
  const reminders = new Reminders(clock);
  expect(reminders.waitMs('u', 'a', 0)).toBe(2_000);
  await clock.advance(1_500);
  expect(reminders.waitMs('u', 'a', 0)).toBe(500);
  expect(reminders.waitMs('other', 'a', 0)).toBe(2_000);
  await clock.advance(1_500);
  expect(reminders.waitMs('u', 'a', 0)).toBe(0);
  expect(reminders.waitMs('u', 'a again', 1)).toBe(4_000);
  expect(reminders.waitMs('u', 'a for the last time', mostReminders - 1)).toBe(256_000);
  await clock.advance(600_000);
  expect(reminders.waitMs('u', 'and no more', mostReminders)).toBeUndefined();
  reminders.drop('u');
  expect(reminders.waitMs('u', 'b', 0)).toBe(2_000);
});
