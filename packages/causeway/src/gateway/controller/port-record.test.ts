import { expect, test } from 'vitest';
import { MemoryPortBook } from './memory-port-book.testing.ts';
import { PortRecord } from './port-record.ts';

const { signal } = new AbortController();

test('what a controller that led before has entered meanwhile is read again', async () => {
  const book = new MemoryPortBook();
  const record = new PortRecord(book);
  await record.read(signal);
  record.know('port-1', 'marker-1');
  expect(record.has('port-1')).toBe(false);
  await book.enter(['marker-1']);
  await record.refresh([{ id: 'port-1' }], signal);
  expect([record.has('port-1'), record.wasOurs('port-1')]).toEqual([true, true]);
});

test('an entry without a port is struck after two lists, not after one', async () => {
  const book = new MemoryPortBook();
  const record = new PortRecord(book);
  await record.enterMarker('marker-1');
  await record.strikeStale(new Set());
  expect([...book.entries]).toEqual(['marker-1']);
  await record.strikeStale(new Set());
  expect([...book.entries]).toEqual([]);
});

test('a port that another tool created is entered by its ID, and struck when it is gone', async () => {
  const book = new MemoryPortBook();
  const record = new PortRecord(book);
  record.know('port-1', 'port-1');
  await record.enter(['port-1']);
  expect(record.has('port-1')).toBe(true);
  await record.strike('port-1');
  expect([...book.entries]).toEqual([]);
  expect(record.wasOurs('port-1')).toBe(true);
});
