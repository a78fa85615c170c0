import { expect, test } from 'vitest';
import { whenAborted } from './when-aborted.ts';

test('the wait ends when the signal fires, and not before', async () => {
  const stop = new AbortController();
  let hasEnded = false;
  const wait = whenAborted(stop.signal).then(() => (hasEnded = true));
  await Promise.resolve();
  expect(hasEnded).toBe(false);
  stop.abort(new Error('reason'));
  await wait;
  expect(hasEnded).toBe(true);
});

test('the wait ends at once for a signal that has fired already', async () => {
  await expect(whenAborted(AbortSignal.abort())).resolves.toBeUndefined();
});
