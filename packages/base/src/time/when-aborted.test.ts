import { expect, test } from 'vitest';
import { whenAborted } from './when-aborted.ts';

test('ends the wait only when the signal fires', async () => {
  const stop = new AbortController();
  let hasEnded = false;
  const wait = whenAborted(stop.signal).then(() => (hasEnded = true));
  await Promise.resolve();
  expect(hasEnded).toBe(false);
  stop.abort(new Error('reason'));
  await wait;
  expect(hasEnded).toBe(true);
});

test('ends the wait at once for a signal that has already fired', async () => {
  await expect(whenAborted(AbortSignal.abort())).resolves.toBeUndefined();
});
