import { expect, test } from 'vitest';
import { sleep } from '../time/clock.ts';
import { discardLog } from '../observability/log.ts';
import { SimulatedClock } from '../time/simulated-clock.ts';
import { CausewayError } from '../error/causeway-error.ts';
import { supervise } from './supervisor.ts';

const forever = (clock: SimulatedClock) => (signal: AbortSignal) => sleep(clock, 1e9, signal);

test('ends quietly when stopped', async () => {
  const stop = new AbortController();
  const running = supervise(stop.signal, { loop: forever(new SimulatedClock()) });
  stop.abort();
  await expect(running).resolves.toBeUndefined();
});

test('a loop that fails ends the others and is named', async () => {
  const clock = new SimulatedClock();
  let otherEnded = false;
  const running = supervise(new AbortController().signal, {
    watcher: () => Promise.reject(new Error('disk full')),
    other: (signal) => forever(clock)(signal).finally(() => (otherEnded = true)),
  });
  await expect(running).rejects.toThrow('watcher: disk full');
  expect(otherEnded).toBe(true);
  expect(clock.pendingTimers).toBe(0);
});

test('a failure is said before the others have ended', async () => {
  const said: string[] = [];
  const log = { ...discardLog, error: (_: object, text: string) => said.push(text) };
  const { promise: slow, resolve } = Promise.withResolvers<void>();
  const loops = { watcher: () => Promise.reject(new Error('disk full')), slow: () => slow };
  const running = supervise(new AbortController().signal, loops, log);
  await expect.poll(() => said).toEqual(['a part has failed, and the others are ended']);
  resolve();
  await expect(running).rejects.toThrow('watcher: disk full');
});

test('a loop that ends by itself is a failure', async () => {
  const running = supervise(new AbortController().signal, { short: () => Promise.resolve() });
  await expect(running).rejects.toThrow('short: ended although nobody stopped it');
});

test('what to do about a failure is not lost', async () => {
  const error = new CausewayError('unauthorized', 'no', { hint: 'Log in.' });
  const running = supervise(new AbortController().signal, { cloud: () => Promise.reject(error) });
  await expect(running).rejects.toMatchObject({ code: 'unauthorized', hint: 'Log in.' });
});
