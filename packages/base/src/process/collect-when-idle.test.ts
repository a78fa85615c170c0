import { expect, test } from 'vitest';
import { collectWhenIdle } from './collect-when-idle.ts';
import { SimulatedClock } from '../time/simulated-clock.ts';

function setUp() {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  const now = { resident: 100, busy: 0, collections: 0 };
  const ended = collectWhenIdle(clock, stop.signal, {
    residentBytes: () => now.resident,
    busyMs: () => now.busy,
    collect: () => {
      now.collections += 1;
      now.resident = 80;
    },
  }).catch(() => 'ended');
  const end = async () => {
    stop.abort();
    await ended;
  };
  return { clock, now, end };
}

test('collects once after each burst, and not while there is work', async () => {
  const { clock, now, end } = setUp();
  await clock.advance(60_000);
  expect(now.collections).toBe(1);
  for (let second = 0; second < 60; second += 1) {
    now.busy += 500;
    now.resident += 1;
    await clock.advance(1_000);
  }
  expect(now.collections).toBe(1);
  await clock.advance(60_000);
  expect(now.collections).toBe(2);
  await end();
});

test('frees memory of the real process', async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  let garbage: unknown[] | undefined = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
  const ended = collectWhenIdle(clock, stop.signal).catch(() => 'ended');
  const before = process.memoryUsage().heapUsed;
  expect(garbage).toHaveLength(1_000_000);
  garbage = undefined;
  // By this clock, the process was idle for a long time.
  await clock.advance(5_000);
  expect(process.memoryUsage().heapUsed).toBeLessThan(before - 10_000_000);
  stop.abort();
  await ended;
});
