import { expect, test } from 'vitest';
import { auditRetentionMs, ipamServerSettings } from './settings.ts';

const days = (settings: object) =>
  auditRetentionMs(ipamServerSettings.parse(settings)) / 86_400_000;

test('keeps the audit log for as long as the ledger has room, unless a retention is set', () => {
  expect(days({})).toBe(365);
  expect(days({ ledger: 'etcd:http://127.0.0.1:2379' })).toBe(2);
  expect(days({ ledger: 'etcd:http://127.0.0.1:2379', auditRetentionDays: 30 })).toBe(30);
});
