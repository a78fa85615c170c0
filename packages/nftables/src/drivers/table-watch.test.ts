import { expect, test } from 'vitest';
import type { Driver, ForeignChange } from './driver.ts';
import { MemoryDriver } from './memory-driver.ts';
import { TableWatch } from './table-watch.ts';

const first = async (
  watch: TableWatch,
  signal: AbortSignal,
): Promise<ForeignChange | undefined> => {
  for await (const change of watch.until(signal)) return change;
  return undefined;
};

/** Counts the watches, and fails the given number of times. */
function driverThat(parts: { isOwned: boolean; failures: number }) {
  const memory = new MemoryDriver('causeway');
  const state = { ...parts, watched: 0 };
  const driver: Driver = {
    table: memory.table,
    get isOwned() {
      return state.isOwned;
    },
    apply: (transaction, signal) => memory.apply(transaction, signal),
    read: (signal) => memory.read(signal),
    elements: (set, signal) => memory.elements(set, signal),
    counters: (set, signal) => memory.counters(set, signal),
    close: () => memory.close(),
    async *watch(signal, onListening) {
      state.watched += 1;
      if (state.failures-- > 0) throw new Error('no socket');
      yield* memory.watch(signal, onListening);
    },
  };
  return { driver, memory, state };
}

test('a table that we own is not watched until ownership is lost', async () => {
  const { driver, memory, state } = driverThat({ isOwned: true, failures: 0 });
  const watch = new TableWatch();
  const stop = new AbortController();
  const seen = first(watch, stop.signal);
  watch.setTables([driver]);
  expect(state.watched).toBe(0);
  state.isOwned = false;
  watch.setTables([driver]);
  expect(state.watched).toBe(1);
  memory.interfere([{ op: 'add-table' }]);
  await expect(seen).resolves.toMatchObject({ table: 'causeway' });
});

test('a failed watch is reported, and started again at the next attempt', async () => {
  const { driver, state } = driverThat({ isOwned: false, failures: 1 });
  const watch = new TableWatch();
  const stop = new AbortController();
  watch.setTables([driver]);
  await expect(first(watch, stop.signal)).rejects.toThrow('no socket');
  // Changes in the meantime are unknown.
  const notice = { table: 'causeway', what: 'it was not watched for a while' };
  await expect(first(watch, stop.signal)).resolves.toEqual(notice);
  expect(state.watched).toBe(2);
});

test('a table that is watched before its first write has no gap, and reports none', async () => {
  const { driver, memory, state } = driverThat({ isOwned: false, failures: 0 });
  const watch = new TableWatch();
  await watch.listen(driver);
  await watch.listen(driver);
  watch.setTables([driver]);
  memory.interfere([{ op: 'add-table' }]);
  const seen = await first(watch, new AbortController().signal);
  expect(seen?.what).toBe('changed by another process');
  expect(state.watched).toBe(1);
});

test("listen() returns for a table that can't be watched", async () => {
  const { driver } = driverThat({ isOwned: false, failures: 1 });
  const watch = new TableWatch();
  await watch.listen(driver);
  await expect(first(watch, new AbortController().signal)).rejects.toThrow('no socket');
});

test('ends with its signal, and watches nothing afterwards', async () => {
  const { driver, memory } = driverThat({ isOwned: false, failures: 0 });
  const watch = new TableWatch();
  const stop = new AbortController();
  watch.setTables([driver]);
  const seen = first(watch, stop.signal);
  stop.abort();
  await expect(seen).resolves.toBeUndefined();
  // The next watch reports changes in between.
  memory.interfere([{ op: 'add-table' }]);
  await expect(first(watch, new AbortController().signal)).resolves.toMatchObject({
    table: 'causeway',
  });
});
