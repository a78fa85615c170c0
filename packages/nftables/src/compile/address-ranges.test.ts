import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressFromInteger, addressToInteger } from '@causeway/base/address/address';
import { parsePrefix, prefixContains, prefixOf, type Prefix } from '@causeway/base/address/prefix';
import { mergedRanges, rangesWithout, unionOfRanges, type AddressRange } from './address-ranges.ts';

/** Prefixes within 10.0.0.0/24, so that they overlap. */
const prefixes = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 24, max: 32 }))
    .map(([last, length]) => prefixOf(addressFromInteger(0x0a000000n + BigInt(last), 4), length)),
  { maxLength: 6 },
);

function isIn(ranges: readonly AddressRange[], value: bigint): boolean {
  return ranges.some(
    ({ first, last }) => addressToInteger(first) <= value && value <= addressToInteger(last),
  );
}

function covers(list: readonly Prefix[], value: bigint): boolean {
  return list.some((prefix) => prefixContains(prefix, addressFromInteger(value, 4)));
}

test('ranges contain exactly the addresses of the prefixes, without the exceptions, and never touch', () => {
  fc.assert(
    fc.property(prefixes, prefixes, (allowed, except) => {
      const ranges = rangesWithout(allowed, except, 4);
      for (let value = 0x0a000000n; value <= 0x0a0000ffn; value += 1n) {
        expect(isIn(ranges, value)).toBe(covers(allowed, value) && !covers(except, value));
      }
      const union = unionOfRanges([...ranges, ...mergedRanges(allowed, 4)], 4);
      expect(union).toEqual(mergedRanges(allowed, 4));
      for (const [index, range] of union.entries()) {
        const next = union[index + 1];
        if (next === undefined) continue;
        expect(addressToInteger(next.first)).toBeGreaterThan(addressToInteger(range.last) + 1n);
      }
    }),
    { numRuns: 50 },
  );
});

test('the other family is omitted, and the whole address space is one range', () => {
  const everything = [parsePrefix('0.0.0.0/0'), parsePrefix('::/0')];
  expect(mergedRanges(everything, 4)).toEqual([{ first: '0.0.0.0', last: '255.255.255.255' }]);
  expect(mergedRanges(everything, 6)).toEqual([
    { first: '::', last: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' },
  ]);
});
