import { expect, it } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Diversion, ServedService } from '../served-service.ts';
import { whenParked } from './when-parked.ts';

function start(services: readonly string[]) {
  const clock = new SimulatedClock();
  const listeners = new Set<(served: readonly ServedService[]) => void>();
  const inner = {
    onCommit: (listener: (served: readonly ServedService[]) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  let isDone = false;
  const done = whenParked(inner, services, clock, 5_000).then(() => {
    isDone = true;
  });
  const commit = async (service: string, diversion: Diversion | undefined) => {
    const served = { service, diversion, targets: [], healthCheck: undefined };
    for (const listener of listeners) listener([served]);
    await clock.advance(0);
    return isDone;
  };
  return { clock, commit, done, isDone: () => isDone, listeners };
}

const park: Diversion = { kind: 'park', logGroup: 9 };

it('waits for the transactions in which all of them are parked', async () => {
  const { commit, done, listeners } = start(['shop/a', 'shop/b']);
  expect(await commit('shop/a', park)).toBe(false);
  const accept: Diversion = { kind: 'accept', listeners: new Map(), logGroup: 9 };
  expect(await commit('shop/b', accept)).toBe(false);
  expect(await commit('shop/b', park)).toBe(true);
  await done;
  expect(listeners.size).toBe(0);
});

it('does not wait if no Service is accepted', async () => {
  await start([]).done;
});

it('does not wait forever', async () => {
  const { clock, isDone } = start(['shop/a']);
  await clock.advance(4_999);
  expect(isDone()).toBe(false);
  await clock.advance(1);
  expect(isDone()).toBe(true);
});
