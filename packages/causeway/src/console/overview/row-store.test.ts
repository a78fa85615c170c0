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

test('a listener gets everything, then what changed, each row once in a batch', async () => {
  const clock = new SimulatedClock();
  const board = new RowStore();
  const stop = new AbortController();
  const running = board.run(clock, stop.signal).catch(() => undefined);
  board.set('pool', pool('a'));
  const heard: RowChanges[] = [];
  const leave = board.listen((changes) => heard.push(changes));
  expect(heard[0]?.set.pool).toEqual([pool('a')]);

  await clock.advance(1_000);
  heard.length = 0;
  board.set('pool', pool('b', 1));
  board.set('pool', pool('b', 2));
  board.remove('pool', 'a');
  board.remove('pool', 'never there');
  await clock.advance(1_000);
  expect(heard).toEqual([{ set: { pool: [pool('b', 2)] }, removed: { pool: ['a'] } }]);

  board.set('pool', pool('b', 2));
  await clock.advance(1_000);
  expect(heard).toHaveLength(1);
  leave();
  board.set('pool', pool('c'));
  await clock.advance(1_000);
  expect(heard).toHaveLength(1);
  stop.abort();
  await running;
});
