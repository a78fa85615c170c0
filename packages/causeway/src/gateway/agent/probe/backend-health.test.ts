import { expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { silentLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { handedLastsMs, BackendHealth } from './backend-health.ts';

const signal = new AbortController().signal;
const own = new Set([parseAddress('10.0.0.1')]);
const handed = new Set([parseAddress('10.0.0.2')]);

test('what a controller handed out is forgotten when it vanishes without closing its stream', async () => {
  const clock = new SimulatedClock();
  let acted: ReadonlySet<Address> = new Set();
  const setSilent = (silent: ReadonlySet<Address>) => {
    acted = silent;
    return Promise.resolve();
  };
  // The stream looks alive all the time.
  const silence = new BackendHealth(
    { setSilent },
    { log: silentLog, clock, metrics: noMetrics },
    () => true,
  );
  silence.see(own);
  expect(silence.expire()).toBe(false);
  silence.hand(handed);
  await silence.act(signal);
  expect(acted).toEqual(handed.union(own));
  // One that is there hands it again before it is forgotten.
  await clock.advance(handedLastsMs - 1);
  expect(silence.expire()).toBe(false);
  silence.hand(handed);
  await clock.advance(handedLastsMs - 1);
  expect(silence.expire()).toBe(false);
  await clock.advance(1);
  expect(silence.expire()).toBe(true);
  expect(silence.expire()).toBe(false);
  await silence.act(signal);
  expect(acted).toBe(own);
});

test('who falls silent together with the controller is left out at once, whatever it handed out last', async () => {
  let acted: ReadonlySet<Address> = new Set();
  const setSilent = (silent: ReadonlySet<Address>) => {
    acted = silent;
    return Promise.resolve();
  };
  const clock = new SimulatedClock();
  const silence = new BackendHealth(
    { setSilent },
    { log: silentLog, clock, metrics: noMetrics },
    () => true,
  );
  silence.hand(new Set());
  silence.see(own);
  await silence.act(signal);
  expect(acted).toEqual(own);
  // The next leader has not heard of it yet.
  silence.hand(new Set());
  await silence.act(signal);
  expect(acted).toEqual(own);
});

test('silent destinations that could not be taken out are tried again until they are', async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  let failures = 2;
  let acted: ReadonlySet<Address> = new Set();
  const setSilent = (silent: ReadonlySet<Address>) => {
    if (failures-- > 0) return Promise.reject(new Error('the kernel is busy'));
    acted = silent;
    return Promise.resolve();
  };
  const silence = new BackendHealth(
    { setSilent },
    { log: silentLog, clock, metrics: noMetrics },
    () => false,
  );
  silence.see(own);
  await silence.act(signal);
  expect(acted.size).toBe(0);
  const attempts: Promise<void>[] = [];
  const looking = silence.lookAgain(() => attempts.push(silence.act(signal)), stop.signal);
  await clock.advance(1_000);
  await Promise.all(attempts);
  expect(acted.size).toBe(0);
  await clock.advance(1_000);
  await Promise.all(attempts);
  expect(acted).toBe(own);
  // And then no more.
  await clock.advance(10_000);
  expect(attempts).toHaveLength(2);
  stop.abort();
  await expect(looking).rejects.toThrow('abort');
});
