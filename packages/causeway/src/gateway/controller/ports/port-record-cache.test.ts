import { expect, test } from 'vitest';
import { MemoryPortRecords } from './memory-port-records.testing.ts';
import { PortRecordCache } from './port-record-cache.ts';

const { signal } = new AbortController();

test('reads entries again that an earlier leader has added', async () => {
  const records = new MemoryPortRecords();
  const record = new PortRecordCache(records);
  await record.read(signal);
  record.know('port-1', 'marker-1');
  expect(record.has('port-1')).toBe(false);
  await records.enter(['marker-1']);
  await record.refresh([{ id: 'port-1' }], signal);
  expect([record.has('port-1'), record.wasOurs('port-1')]).toEqual([true, true]);
});

test('removes an entry without a port after two lists, not after one', async () => {
  const records = new MemoryPortRecords();
  const record = new PortRecordCache(records);
  await record.enterMarker('marker-1');
  await record.strikeStale(new Set());
  expect([...records.entries]).toEqual(['marker-1']);
  await record.strikeStale(new Set());
  expect([...records.entries]).toEqual([]);
});

test('records a port of another tool by its ID, and removes it when the port is gone', async () => {
  const records = new MemoryPortRecords();
  const record = new PortRecordCache(records);
  record.know('port-1', 'port-1');
  await record.enter(['port-1']);
  expect(record.has('port-1')).toBe(true);
  await record.strike('port-1');
  expect([...records.entries]).toEqual([]);
  expect(record.wasOurs('port-1')).toBe(true);
});
