import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePrefix } from '@causeway/base/address/prefix';
import { AddressSpace, defaultPools, slaacAddress } from './address-space.ts';

describe('AddressSpace', () => {
  it('never allocates an address twice, and allocates all addresses', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 }), { maxLength: 60 }), (commands) => {
        const space = new AddressSpace('192.0.2.0/28', [
          { start: '192.0.2.2', end: '192.0.2.4' },
          { start: '192.0.2.8', end: '192.0.2.9' },
        ]);
        const taken: string[] = [];
        for (const command of commands) {
          if (command < 6) {
            const next = space.takeNext();
            if (next === undefined) expect(taken).toHaveLength(5);
            else {
              expect(taken).not.toContain(next);
              taken.push(next);
            }
          } else {
            const [gone] = taken.splice(command % Math.max(taken.length, 1), 1);
            if (gone !== undefined) space.release(parseAddress(gone));
          }
        }
        expect(space.used).toBe(taken.length);
      }),
    );
  });

  it('allocates a requested address outside the pools once', () => {
    const space = new AddressSpace('192.0.2.0/28', [{ start: '192.0.2.2', end: '192.0.2.2' }]);
    expect(space.take(parseAddress('192.0.2.1'))).toBe(true);
    expect(space.take(parseAddress('192.0.2.1'))).toBe(false);
    expect(space.isUsable(parseAddress('192.0.2.15')), 'broadcast').toBe(false);
    expect(space.isUsable(parseAddress('192.0.2.16')), 'outside').toBe(false);
  });
});

describe('defaultPools', () => {
  it.each([
    ['10.0.0.0/24', '10.0.0.1', [{ start: '10.0.0.2', end: '10.0.0.254' }]],
    ['10.0.0.0/24', null, [{ start: '10.0.0.1', end: '10.0.0.254' }]],
    [
      '10.0.0.0/29',
      '10.0.0.3',
      [
        { start: '10.0.0.1', end: '10.0.0.2' },
        { start: '10.0.0.4', end: '10.0.0.6' },
      ],
    ],
    ['10.0.0.0/24', '10.1.0.1', [{ start: '10.0.0.1', end: '10.0.0.254' }]],
    [
      '2001:db8::/64',
      '2001:db8::',
      [{ start: '2001:db8::1', end: '2001:db8::ffff:ffff:ffff:ffff' }],
    ],
  ])('are correct for %s with the gateway %s', (cidr, gateway, pools) => {
    expect(defaultPools(parsePrefix(cidr), gateway)).toEqual(pools);
  });
});

it('calculates SLAAC addresses like hosts', () => {
  expect(slaacAddress(parsePrefix('2001:db8:6::/64'), 'fa:16:3e:d3:fe:d9')).toBe(
    '2001:db8:6:0:f816:3eff:fed3:fed9',
  );
});
