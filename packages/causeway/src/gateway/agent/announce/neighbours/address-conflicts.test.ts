import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { AddressConflicts } from './address-conflicts.ts';

const binding = (last: number) => ({
  address: parseAddress(`192.0.2.${last}`),
  hardware: '02:00:00:00:00:09',
});

test('reports a conflict while it is repeated, and for some time after', () => {
  const conflicts = new AddressConflicts();
  conflicts.setActive(true, 0);
  conflicts.hear(binding(1), 5_000);
  expect(conflicts.complaint(6_000)).toBe('192.0.2.1: also used by 02:00:00:00:00:09');
  conflicts.hear(binding(2), 9_000);
  expect(conflicts.complaint(10_000)).toContain('192.0.2.1, and 1 more: ');
  expect(conflicts.complaint(21_000)).toContain('192.0.2.2');
  expect(conflicts.complaint(30_000)).toBeUndefined();
});

test('ignores conflicts shortly after a failover, and all conflicts while it is standby', () => {
  const conflicts = new AddressConflicts();
  conflicts.hear(binding(1), 0);
  conflicts.setActive(true, 1_000);
  conflicts.hear(binding(1), 2_000);
  expect(conflicts.complaint(2_000)).toBeUndefined();
  conflicts.hear(binding(1), 4_000);
  expect(conflicts.complaint(4_000)).toBeDefined();
  conflicts.setActive(false, 5_000);
  expect(conflicts.complaint(5_000)).toBeUndefined();
});
