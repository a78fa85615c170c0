import { expect, test } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { RowStore } from './row-store.ts';
import type { PoolRow, RowChanges } from './rows.ts';

const pool = (key: string, used = 0): PoolRow => ({
  key,
  ranges: [],
  total: 10,
  used,
  quarantined: 0,
  free: 10 - used,
  isDraining: false,
});

test('sends all rows to a listener, then the changes, each row once per batch', async () => {
  const clock = new SimulatedClock();
  const rowStore = new RowStore();
  const stop = new AbortController();
  const running = rowStore.run(clock, stop.signal).catch(() => undefined);
  rowStore.set('pool', pool('a'));
  const heard: RowChanges[] = [];
  const leave = rowStore.listen((changes) => heard.push(changes));
  expect(heard[0]?.set.pool).toEqual([pool('a')]);

  await clock.advance(1_000);
  heard.length = 0;
  rowStore.set('pool', pool('b', 1));
  rowStore.set('pool', pool('b', 2));
  rowStore.remove('pool', 'a');
  rowStore.remove('pool', 'never there');
  await clock.advance(1_000);
  expect(heard).toEqual([{ set: { pool: [pool('b', 2)] }, removed: { pool: ['a'] } }]);

  rowStore.set('pool', pool('b', 2));
  await clock.advance(1_000);
  expect(heard).toHaveLength(1);
  leave();
  rowStore.set('pool', pool('c'));
  await clock.advance(1_000);
  expect(heard).toHaveLength(1);
  stop.abort();
  await running;
});
