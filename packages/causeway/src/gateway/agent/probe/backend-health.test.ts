import { expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { handedLastsMs, BackendHealth } from './backend-health.ts';

const signal = new AbortController().signal;
const own = new Set([parseAddress('10.0.0.1')]);
const handed = new Set([parseAddress('10.0.0.2')]);

test("drops the controller's list when the controller disappears without closing its stream", async () => {
  const clock = new SimulatedClock();
  let acted: ReadonlySet<Address> = new Set();
  const setUnhealthy = (unhealthy: ReadonlySet<Address>) => {
    acted = unhealthy;
    return Promise.resolve();
  };
  // The stream stays connected.
  const backendHealth = new BackendHealth(
    { setUnhealthy },
    { log: discardLog, clock, metrics: noMetrics },
    () => true,
  );
  backendHealth.see(own);
  expect(backendHealth.expire()).toBe(false);
  backendHealth.hand(handed);
  await backendHealth.act(signal);
  expect(acted).toEqual(handed.union(own));
  // A running controller repeats its list before it expires.
  await clock.advance(handedLastsMs - 1);
  expect(backendHealth.expire()).toBe(false);
  backendHealth.hand(handed);
  await clock.advance(handedLastsMs - 1);
  expect(backendHealth.expire()).toBe(false);
  await clock.advance(1);
  expect(backendHealth.expire()).toBe(true);
  expect(backendHealth.expire()).toBe(false);
  await backendHealth.act(signal);
  expect(acted).toBe(own);
});

test("excludes a backend that fails together with the controller at once, whatever the controller's last list", async () => {
  let acted: ReadonlySet<Address> = new Set();
  const setUnhealthy = (unhealthy: ReadonlySet<Address>) => {
    acted = unhealthy;
    return Promise.resolve();
  };
  const clock = new SimulatedClock();
  const backendHealth = new BackendHealth(
    { setUnhealthy },
    { log: discardLog, clock, metrics: noMetrics },
    () => true,
  );
  backendHealth.hand(new Set());
  backendHealth.see(own);
  await backendHealth.act(signal);
  expect(acted).toEqual(own);
  // The next leader does not know the failure yet.
  backendHealth.hand(new Set());
  await backendHealth.act(signal);
  expect(acted).toEqual(own);
});

test('retries until unhealthy backends are removed', async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  let failures = 2;
  let acted: ReadonlySet<Address> = new Set();
  const setUnhealthy = (unhealthy: ReadonlySet<Address>) => {
    if (failures-- > 0) return Promise.reject(new Error('the kernel is busy'));
    acted = unhealthy;
    return Promise.resolve();
  };
  const backendHealth = new BackendHealth(
    { setUnhealthy },
    { log: discardLog, clock, metrics: noMetrics },
    () => false,
  );
  backendHealth.see(own);
  await backendHealth.act(signal);
  expect(acted.size).toBe(0);
  const attempts: Promise<void>[] = [];
  const rechecking = backendHealth.recheck(
    () => attempts.push(backendHealth.act(signal)),
    stop.signal,
  );
  await clock.advance(1_000);
  await Promise.all(attempts);
  expect(acted.size).toBe(0);
  await clock.advance(1_000);
  await Promise.all(attempts);
  expect(acted).toBe(own);
  // No retries follow.
  await clock.advance(10_000);
  expect(attempts).toHaveLength(2);
  stop.abort();
  await expect(rechecking).rejects.toThrow('abort');
});
