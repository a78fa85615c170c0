import { expect, test } from 'vitest';
import { delayedAbort } from './delayed-abort.ts';
import { whenAborted } from './when-aborted.ts';

const fired = async (signal: AbortSignal): Promise<unknown> => {
  await whenAborted(signal);
  return signal.reason;
};

test.each(['before', 'after'])('fires once all is done, if asked %s it was made', async (when) => {
  const stop = new AbortController();
  const preparation = Promise.withResolvers<void>();
  let isAsked = false;
  if (when === 'before') stop.abort('enough');
  const signal = delayedAbort(stop.signal, () => {
    isAsked = true;
    return preparation.promise;
  });
  expect(isAsked).toBe(when === 'before');
  stop.abort('enough');
  expect(isAsked).toBe(true);
  expect(signal.aborted).toBe(false);
  const reason = fired(signal);
  preparation.resolve();
  expect(await reason).toBe('enough');
});

test('fires although the preparation failed', async () => {
  const stop = new AbortController();
  const signal = delayedAbort(stop.signal, () => Promise.reject(new Error('no')));
  const reason = fired(signal);
  stop.abort('enough');
  expect(await reason).toBe('enough');
});
