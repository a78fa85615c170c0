import { expect, test } from 'vitest';
import { delayedAbort } from './delayed-abort.ts';
import { whenAborted } from './when-aborted.ts';

const fired = async (signal: AbortSignal): Promise<unknown> => {
  await whenAborted(signal);
  return signal.reason;
};

test.each(['before', 'after'])(
  'fires after the preparation if the signal was aborted %s the call',
  async (when) => {
    const stop = new AbortController();
    const preparation = Promise.withResolvers<void>();
    let isPrepared = false;
    if (when === 'before') stop.abort('enough');
    const signal = delayedAbort(stop.signal, () => {
      isPrepared = true;
      return preparation.promise;
    });
    expect(isPrepared).toBe(when === 'before');
    stop.abort('enough');
    expect(isPrepared).toBe(true);
    expect(signal.aborted).toBe(false);
    const reason = fired(signal);
    preparation.resolve();
    expect(await reason).toBe('enough');
  },
);

test('fires even if the preparation fails', async () => {
  const stop = new AbortController();
  const signal = delayedAbort(stop.signal, () => Promise.reject(new Error('no')));
  const reason = fired(signal);
  stop.abort('enough');
  expect(await reason).toBe('enough');
});
