import { describe, expect, it } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { memberChanges } from './member-changes.ts';
import type { Member } from './resources.ts';
import type { MemberSpec } from './specs.ts';

const spec = (address: string, extra: Partial<MemberSpec> = {}): MemberSpec => ({
  address: parseAddress(address),
  port: parsePort(80),
  ...extra,
});
const member = (address: string, extra: Partial<Member> = {}): Member => ({
  id: `id-${address}`,
  name: '',
  projectId: 'p',
  adminStateUp: true,
  provisioningStatus: 'ACTIVE',
  operatingStatus: 'ONLINE',
  tags: [],
  address: parseAddress(address),
  port: parsePort(80),
  subnetId: 's',
  weight: 1,
  backup: false,
  monitorAddress: undefined,
  monitorPort: undefined,
  ...extra,
});
const none = { added: [], changed: [], removed: [] };

describe('memberChanges', () => {
  it.each([
    ['nothing and nothing', [], [], false, none],
    ['the same', [member('10.0.0.1')], [spec('10.0.0.1')], false, none],
    [
      'fields that the spec omits',
      [member('10.0.0.1', { weight: 7, name: 'x' })],
      [spec('10.0.0.1')],
      false,
      none,
    ],
    [
      'a member that is being deleted',
      [member('10.0.0.1', { provisioningStatus: 'PENDING_DELETE' })],
      [],
      false,
      none,
    ],
    [
      'a member that is wanted again while it is being deleted',
      [member('10.0.0.1', { provisioningStatus: 'PENDING_DELETE' })],
      [spec('10.0.0.1')],
      false,
      { ...none, added: ['10.0.0.1'] },
    ],
    [
      'another weight',
      [member('10.0.0.1')],
      [spec('10.0.0.1', { weight: 2 })],
      false,
      { ...none, changed: ['id-10.0.0.1'] },
    ],
    [
      'weight 0 drains',
      [member('10.0.0.1')],
      [spec('10.0.0.1', { weight: 0 })],
      false,
      { ...none, changed: ['id-10.0.0.1'] },
    ],
    [
      'tags in another order',
      [member('10.0.0.1', { tags: ['a', 'b'] })],
      [spec('10.0.0.1', { tags: ['b', 'a'] })],
      false,
      none,
    ],
    ['a new one', [], [spec('10.0.0.1')], false, { ...none, added: ['10.0.0.1'] }],
    [
      'a new one twice',
      [],
      [spec('10.0.0.1'), spec('10.0.0.1')],
      false,
      { ...none, added: ['10.0.0.1'] },
    ],
    ['one less', [member('10.0.0.1')], [], false, { ...none, removed: ['id-10.0.0.1'] }],
    ['one less, kept', [member('10.0.0.1')], [], true, none],
    [
      'the same address, another port',
      [member('10.0.0.1', { port: parsePort(81) })],
      [spec('10.0.0.1')],
      false,
      { added: ['10.0.0.1'], changed: [], removed: ['id-10.0.0.1'] },
    ],
    [
      'a monitor port taken away',
      [member('10.0.0.1', { monitorPort: parsePort(9) })],
      [spec('10.0.0.1', { monitorPort: null })],
      false,
      { ...none, changed: ['id-10.0.0.1'] },
    ],
    [
      'no monitor port either way',
      [member('10.0.0.1')],
      [spec('10.0.0.1', { monitorPort: null })],
      false,
      none,
    ],
  ] as const)('%s', (_name, current, wanted, keepOthers, expected) => {
    const { added, changed, removed } = memberChanges(current, wanted, keepOthers);
    expect({
      added: added.map(({ address }) => address),
      changed: changed.map(({ id }) => id),
      removed: removed.map(({ id }) => id),
    }).toEqual(expected);
  });
});
