import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { untilAborted } from './until-aborted.ts';

const never = new Promise<never>(() => {});

test.each([
  ['before', true],
  ['during', false],
])('rejects with aborted after an abort %s the wait', async (_when, isEarly) => {
  const stop = new AbortController();
  if (isEarly) stop.abort();
  const wait = untilAborted(never, stop.signal);
  stop.abort();
  await expect(wait).rejects.toMatchObject({ code: 'aborted' });
});

test('passes the result of the work on, and leaves no listener', async () => {
  const { signal } = new AbortController();
  await expect(untilAborted(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
