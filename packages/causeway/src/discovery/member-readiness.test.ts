import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { readyMembers } from './member-readiness.ts';
import type { MemberView } from './project-tree.ts';

const member = (changes: Partial<MemberView> = {}): MemberView => ({
  address: parseAddress('10.0.0.1'),
  port: parsePort(80),
  weight: 1,
  backup: false,
  adminStateUp: true,
  operatingStatus: 'ONLINE',
  ...changes,
});

test.each([
  [{}, true],
  [{ operatingStatus: 'NO_MONITOR' }, true],
  [{ operatingStatus: 'DEGRADED' }, true],
  [{ operatingStatus: 'UNKNOWN' }, true],
  [{ operatingStatus: 'DRAINING' }, false],
  [{ operatingStatus: 'OFFLINE' }, false],
  [{ operatingStatus: 'ERROR' }, false],
  [{ operatingStatus: 'DISABLED' }, false],
  [{ weight: 0 }, false],
  [{ weight: 256 }, true],
  [{ adminStateUp: false }, false],
  [{ backup: true }, true],
] as const)('%j only: %s', (changes, isReady) => {
  const one = member(changes);
  expect(readyMembers([one], true).has(one)).toBe(isReady);
  expect(readyMembers([one], false).size).toBe(0);
});

test('uses backup members if no other can be used', () => {
  const primary = member();
  const down = member({ operatingStatus: 'ERROR' });
  const backup = member({ backup: true });
  const sick = member({ backup: true, weight: 0 });
  expect([...readyMembers([primary, backup], true)]).toEqual([primary]);
  expect([...readyMembers([down, backup, sick], true)]).toEqual([backup]);
});
