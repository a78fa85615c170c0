import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { DuplicateClaims } from './address-conflicts.ts';

const claim = (last: number) => ({
  address: parseAddress(`192.0.2.${last}`),
  hardware: '02:00:00:00:00:09',
});

test('reports a foreign claim while it is repeated, and for some time after', () => {
  const ledger = new DuplicateClaims();
  ledger.setActive(true, 0);
  ledger.hear(claim(1), 5_000);
  expect(ledger.complaint(6_000)).toBe('192.0.2.1: also used by 02:00:00:00:00:09');
  ledger.hear(claim(2), 9_000);
  expect(ledger.complaint(10_000)).toContain('192.0.2.1, and 1 more: ');
  expect(ledger.complaint(21_000)).toContain('192.0.2.2');
  expect(ledger.complaint(30_000)).toBeUndefined();
});

test('ignores claims shortly after a failover, and all claims while it is standby', () => {
  const ledger = new DuplicateClaims();
  ledger.hear(claim(1), 0);
  ledger.setActive(true, 1_000);
  ledger.hear(claim(1), 2_000);
  expect(ledger.complaint(2_000)).toBeUndefined();
  ledger.hear(claim(1), 4_000);
  expect(ledger.complaint(4_000)).toBeDefined();
  ledger.setActive(false, 5_000);
  expect(ledger.complaint(5_000)).toBeUndefined();
});
