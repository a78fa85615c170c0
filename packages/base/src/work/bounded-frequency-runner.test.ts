import { afterEach, expect, test } from 'vitest';
import { BoundedFrequencyRunner } from './bounded-frequency-runner.ts';
import { discardLog } from '../observability/log.ts';
import { settled, SimulatedClock } from '../time/simulated-clock.ts';

let stop = new AbortController();
afterEach(() => stop.abort());

function start(options: { burst?: number; fail?: () => boolean } = {}) {
  stop = new AbortController();
  const clock = new SimulatedClock();
  const runs: number[] = [];
  const runner = new BoundedFrequencyRunner({
    name: 'test',
    run: () => {
      runs.push(clock.monotonic());
      return options.fail?.() === true ? Promise.reject(new Error('no')) : Promise.resolve();
    },
    minIntervalMs: 100,
    burst: options.burst ?? 1,
    maxIntervalMs: 10_000,
    retryMs: 500,
    clock,
    log: discardLog,
  });
  const ended = runner.loop(stop.signal);
  return { clock, runner, runs, ended };
}

test('runs at once on a request, then keeps the interval for any number of requests', async () => {
  const { clock, runner, runs } = start();
  for (let index = 0; index < 30; index += 1) {
    runner.request();
    await clock.advance(10);
  }
  await clock.advance(200);
  expect(runs).toEqual([0, 100, 200, 300]);
});

test('allows a burst after an idle time', async () => {
  const { clock, runner, runs } = start({ burst: 3 });
  for (let index = 0; index < 5; index += 1) {
    runner.request();
    await clock.advance(1);
  }
  await clock.advance(1_000);
  expect(runs.slice(0, 3)).toEqual([0, 1, 2]);
  expect(runs.length).toBe(4);
});

test('runs without a request after the longest interval', async () => {
  const { clock, runs } = start();
  await clock.advance(25_000);
  expect(runs).toEqual([10_000, 20_000]);
});

test('tries again after a failure', async () => {
  let failures = 2;
  const { clock, runner, runs } = start({ fail: () => failures-- > 0 });
  runner.request();
  await clock.advance(5_000);
  expect(runs).toEqual([0, 500, 1_000]);
});

test('ends on abort and leaves no timer', async () => {
  const { clock, ended } = start();
  await settled();
  stop.abort();
  await ended;
  expect(clock.pendingTimers).toBe(0);
});
