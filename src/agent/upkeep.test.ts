import { expect, test } from 'vitest';
import { silentLog } from '../runtime/log.ts';
import { noMetrics } from '../runtime/metrics.ts';
import { SimulatedClock } from '../runtime/simulated-clock.ts';
import { supervise } from '../runtime/supervisor.ts';
import { Alarms } from './alarms.ts';
import { emptyState } from './model/state.ts';
import { Upkeep } from './upkeep.ts';

test('tables that can not be watched are looked at instead, until they can', async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  let watches = 0;
  let restores = 0;
  const upkeep = new Upkeep({
    ...{ clock, log: silentLog, metrics: noMetrics, alarms: new Alarms(silentLog, noMetrics) },
    mover: undefined,
    status: { onChange: () => {} },
    gateway: {
      isDegraded: false,
      state: emptyState,
      restore: () => {
        restores += 1;
        return Promise.resolve();
      },
      compactIfNeeded: () => Promise.resolve(),
    },
    kernel: {
      async *foreignChanges(signal) {
        watches += 1;
        if (watches <= 2) throw new Error('no socket');
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        yield* [];
      },
      look: () => Promise.resolve(),
      elements: () => 0,
      connections: () => null,
      forgetAllConnections: () => Promise.resolve(),
    },
  });
  const running = supervise(stop.signal, upkeep.loops());
  await clock.advance(60_000);
  expect({ watches, restores }).toEqual({ watches: 3, restores: 2 });
  stop.abort();
  await clock.advance(10_000);
  await running;
});
