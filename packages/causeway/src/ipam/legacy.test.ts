import { expect, test } from 'vitest';
import { addressRecordSchema } from './records.ts';

const owner = { uid: 'u', purpose: 'load-balancer', since: 5, later: 'kept' };
const address = {
  state: 'held',
  address: '192.0.2.1',
  pool: 'p',
  cluster: 'a',
  epoch: 'e'.repeat(16),
};

test("reads an owner's fencing token of 0.1.0, and writes it under its new name", () => {
  const stored = { ...address, owners: [{ ...owner, fence: 7 }] };
  const read = addressRecordSchema.parse(stored);
  expect(read).toEqual({ ...address, owners: [{ ...owner, fencingToken: 7 }] });
  expect(addressRecordSchema.parse(read)).toEqual(read);
});

test('an owner without a fencing token is not readable', () => {
  expect(addressRecordSchema.safeParse({ ...address, owners: [owner] }).success).toBe(false);
  const text = { ...owner, fence: 'seven' };
  expect(addressRecordSchema.safeParse({ ...address, owners: [text] }).success).toBe(false);
});
