import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { WakeUp } from './wake-up.ts';

const { signal } = new AbortController();

test('ends the wait at once after earlier calls, which count as one', async () => {
  const wakeUp = new WakeUp();
  wakeUp.call();
  wakeUp.call();
  await wakeUp.next(signal);
  let hasEnded = false;
  const second = wakeUp.next(signal).then(() => (hasEnded = true));
  await Promise.resolve();
  expect(hasEnded).toBe(false);
  wakeUp.call();
  await second;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('ends the wait on abort', async () => {
  const stop = new AbortController();
  const wait = new WakeUp().next(stop.signal);
  stop.abort();
  await wait;
  await new WakeUp().next(stop.signal);
});
