import { expect, test } from 'vitest';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { supervise } from '@causeway/base/work/supervisor';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { Alarms } from './alarms.ts';
import { foreignAnnouncer } from './announce/foreign-announcer.ts';
import { emptyState } from './store/state.ts';
import { Maintenance } from './maintenance.ts';

test("reads tables that can't be watched until they can", async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  let watches = 0;
  let restores = 0;
  const upkeep = new Maintenance({
    clock,
    log: discardLog,
    metrics: noMetrics,
    alarms: new Alarms(discardLog, noMetrics),
    announcer: foreignAnnouncer(clock),
    overrides: { damage: undefined, problem: undefined, storeAgain: () => Promise.resolve() },
    gateway: {
      isDegraded: false,
      doubt: undefined,
      storeProblem: undefined,
      state: emptyState,
      restore: () => {
        restores += 1;
        return Promise.resolve();
      },
      compactIfNeeded: () => Promise.resolve(),
      applyRemovals: () => Promise.resolve(),
    },
    limits: { share: 0.5, count: 20 },
    kernel: {
      async *foreignChanges(signal) {
        watches += 1;
        if (watches <= 2) throw new Error('no socket');
        await whenAborted(signal);
        yield* [];
      },
      check: () => Promise.resolve(),
      elements: () => 0,
      connections: () => null,
      deleteAllConnections: () => Promise.resolve(),
    },
  });
  const running = supervise(stop.signal, upkeep.loops());
  await clock.advance(60_000);
  expect({ watches, restores }).toEqual({ watches: 3, restores: 2 });
  stop.abort();
  await clock.advance(10_000);
  await running;
});
