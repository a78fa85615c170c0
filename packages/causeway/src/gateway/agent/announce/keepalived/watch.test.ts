import { expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { RoleStatus } from '../role-status.ts';
import { keepAlive, type WatchedAnnouncer } from './watch.ts';

const left = new Map([['ext', new Set<Address>([parseAddress('192.0.2.1')])]]);

test('leaves the active role before it removes the addresses of a dead keepalived', async () => {
  const clock = new SimulatedClock();
  const status = new RoleStatus(clock, discardLog, noMetrics);
  status.enter('active');
  const stop = new AbortController();
  const rolesAtRemoval: string[] = [];
  const announcer: WatchedAnnouncer = {
    isDrained: false,
    process: { isRunning: () => Promise.resolve(false) },
    start: () => {
      // The pipe still contained the last notification of the dead process.
      status.enter('active');
      return Promise.reject(new CausewayError('unavailable', "keepalived can't be started"));
    },
    findOrphans: () => Promise.resolve(left),
    removeOrphans: () => {
      rolesAtRemoval.push(status.role);
      stop.abort();
      return Promise.resolve();
    },
    stateOnLink: () => Promise.resolve(undefined),
  };
  const watch = { aliveEveryMs: 100, sweepEveryMs: 1_000, log: discardLog, metrics: noMetrics };
  const watching = keepAlive({ ...watch, announcer, status, clock }, stop.signal);
  await clock.advance(2_000);
  await watching;
  expect(rolesAtRemoval).toEqual(['unable']);
});

test("continues when a link can't be read while keepalived is dead", async () => {
  const clock = new SimulatedClock();
  const status = new RoleStatus(clock, discardLog, noMetrics);
  const stop = new AbortController();
  let starts = 0;
  const gone = () => Promise.reject(new CausewayError('unavailable', 'there is no link ext'));
  const announcer: WatchedAnnouncer = {
    isDrained: false,
    process: { isRunning: () => Promise.resolve(starts === 3) },
    start: () => {
      starts += 1;
      return starts === 3 ? Promise.resolve() : gone();
    },
    findOrphans: gone,
    removeOrphans: () => Promise.resolve(),
    stateOnLink: () => Promise.resolve(undefined),
  };
  const watch = { aliveEveryMs: 100, sweepEveryMs: 1_000, log: discardLog, metrics: noMetrics };
  const watching = keepAlive({ ...watch, announcer, status, clock }, stop.signal);
  await clock.advance(10_000);
  expect(starts).toBe(3);
  stop.abort();
  await expect(watching).rejects.toThrow('abort');
});
