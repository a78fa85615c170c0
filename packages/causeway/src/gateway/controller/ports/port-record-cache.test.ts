import { expect, test } from 'vitest';
import { MemoryPortBook } from './memory-port-records.testing.ts';
import { PortRecord } from './port-record-cache.ts';

const { signal } = new AbortController();

test('reads entries again that an earlier leader has added', async () => {
  const book = new MemoryPortBook();
  const record = new PortRecord(book);
  await record.read(signal);
  record.know('port-1', 'marker-1');
  expect(record.has('port-1')).toBe(false);
  await book.enter(['marker-1']);
  await record.refresh([{ id: 'port-1' }], signal);
  expect([record.has('port-1'), record.wasOurs('port-1')]).toEqual([true, true]);
});

test('removes an entry without a port after two lists, not after one', async () => {
  const book = new MemoryPortBook();
  const record = new PortRecord(book);
  await record.enterMarker('marker-1');
  await record.strikeStale(new Set());
  expect([...book.entries]).toEqual(['marker-1']);
  await record.strikeStale(new Set());
  expect([...book.entries]).toEqual([]);
});

test('records a port of another tool by its ID, and removes it when the port is gone', async () => {
  const book = new MemoryPortBook();
  const record = new PortRecord(book);
  record.know('port-1', 'port-1');
  await record.enter(['port-1']);
  expect(record.has('port-1')).toBe(true);
  await record.strike('port-1');
  expect([...book.entries]).toEqual([]);
  expect(record.wasOurs('port-1')).toBe(true);
});
