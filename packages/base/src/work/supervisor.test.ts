import { expect, test } from 'vitest';
import { sleep } from '../time/clock.ts';
import { discardLog } from '../observability/log.ts';
import { SimulatedClock } from '../time/simulated-clock.ts';
import { CausewayError } from '../error/causeway-error.ts';
import { supervise } from './supervisor.ts';

const forever = (clock: SimulatedClock) => (signal: AbortSignal) => sleep(clock, 1e9, signal);

test('ends without an error when stopped', async () => {
  const stop = new AbortController();
  const running = supervise(stop.signal, { loop: forever(new SimulatedClock()) });
  stop.abort();
  await expect(running).resolves.toBeUndefined();
});

test('names the failed loop and ends the others', async () => {
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

test('logs a failure before the other loops have ended', async () => {
  const logged: string[] = [];
  const log = { ...discardLog, error: (_: object, text: string) => logged.push(text) };
  const { promise: slow, resolve } = Promise.withResolvers<void>();
  const loops = { watcher: () => Promise.reject(new Error('disk full')), slow: () => slow };
  const running = supervise(new AbortController().signal, loops, log);
  await expect.poll(() => logged).toEqual(['a loop failed, stopping the others']);
  resolve();
  await expect(running).rejects.toThrow('watcher: disk full');
});

test('treats a loop that ends without being stopped as a failure', async () => {
  const running = supervise(new AbortController().signal, { short: () => Promise.resolve() });
  await expect(running).rejects.toThrow('short: ended without being stopped');
});

test('keeps the hint of a failure', async () => {
  const error = new CausewayError('unauthorized', 'no', { hint: 'Log in.' });
  const running = supervise(new AbortController().signal, { cloud: () => Promise.reject(error) });
  await expect(running).rejects.toMatchObject({ code: 'unauthorized', hint: 'Log in.' });
});
