import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressFromInteger, parseAddress } from './address.ts';
import { formatAddressRange, parseAddressRange, type AddressRange } from './address-range.ts';
import { AddressSet } from './address-set.ts';

const setOf = (...texts: string[]) => AddressSet.of(4, texts.map(parseAddressRange));
const spelling = (set: AddressSet) => set.ranges.map(formatAddressRange).join(' ');

/** Small ranges close to each other, so that they touch, overlap and nest. */
const smallRange = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 12 }))
  .map(([first, length]): AddressRange => {
    return { family: 4, first: BigInt(first), last: BigInt(first + length) };
  });
const smallRanges = fc.array(smallRange, { maxLength: 8 });
const membersOf = (ranges: readonly AddressRange[]) => {
  const members = new Set<bigint>();
  for (const range of ranges) {
    for (let value = range.first; value <= range.last; value += 1n) members.add(value);
  }
  return [...members].sort((left, right) => Number(left - right));
};

describe('an address set', () => {
  test('merges ranges that touch and skips the other family', () => {
    const set = setOf('192.0.2.4-192.0.2.7', '192.0.2.0/30', '192.0.2.9', '2001:db8::/64');
    expect(spelling(set)).toBe('192.0.2.0-192.0.2.7 192.0.2.9');
    expect(set.size).toBe(9n);
  });

  test('numbers its members across the gaps', () => {
    const set = setOf('192.0.2.1-192.0.2.2', '192.0.2.8-192.0.2.9');
    expect(set.at(2n)).toBe('192.0.2.8');
    expect(set.indexOf(parseAddress('192.0.2.9'))).toBe(3n);
    expect(set.indexOf(parseAddress('192.0.2.5'))).toBeUndefined();
    expect(set.indexOf(parseAddress('::1'))).toBeUndefined();
    expect(() => set.at(4n)).toThrow('no address number 4');
  });

  test('finds where two sets overlap', () => {
    const shared = setOf('192.0.2.0/28').overlap(setOf('192.0.2.14-192.0.2.40'));
    expect(shared === undefined ? undefined : formatAddressRange(shared)).toBe(
      '192.0.2.14-192.0.2.15',
    );
    expect(setOf('192.0.2.0/28').overlap(setOf('192.0.2.16/28'))).toBeUndefined();
  });

  test('behaves like a plain set of integers', () => {
    fc.assert(
      fc.property(smallRanges, smallRanges, (included, excluded) => {
        const set = AddressSet.of(4, included).without(AddressSet.of(4, excluded));
        const gone = new Set(membersOf(excluded));
        const expected = membersOf(included).filter((value) => !gone.has(value));
        expect(set.size).toBe(BigInt(expected.length));
        for (const [index, value] of expected.entries()) {
          const address = addressFromInteger(value, 4);
          expect(set.at(BigInt(index))).toBe(address);
          expect(set.indexOf(address)).toBe(BigInt(index));
        }
        for (const value of gone) expect(set.has(addressFromInteger(value, 4))).toBe(false);
      }),
    );
  });
});
