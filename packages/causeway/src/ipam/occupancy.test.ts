import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Address } from '@causeway/base/address/address';
import { parseAddressRange } from '@causeway/base/address/address-range';
import { AddressSet } from '@causeway/base/address/address-set';
import { createOccupancy, hashedStart } from './occupancy.ts';

const setOf = (text: string, family: 4 | 6 = 4) => AddressSet.of(family, [parseAddressRange(text)]);

describe('occupancy', () => {
  test('finds exactly the free addresses, each once, from any start', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.nat({ max: 99 }), { maxLength: 100 }),
        fc.nat(),
        (size, marks, start) => {
          const set = setOf(`10.0.0.0-10.0.0.${size - 1}`);
          const occupancy = createOccupancy(set);
          const free = new Set(Array.from({ length: size }, (_, index) => set.at(BigInt(index))));
          for (const mark of marks) {
            const address = `10.0.0.${mark}` as Address;
            const taken = mark % 3 !== 0 || free.has(address);
            occupancy.mark(address, taken);
            if (mark >= size) continue;
            if (taken) free.delete(address);
            else free.add(address);
          }
          const found = [...occupancy.freeFrom(start)];
          expect(new Set(found)).toEqual(free);
          expect(found).toHaveLength(free.size);
          expect(occupancy.taken).toBe(size - free.size);
          const origin = set.at(BigInt(start % size));
          if (free.has(origin)) expect(found[0]).toBe(origin);
        },
      ),
    );
  });

  test('accepts an IPv6 network that is too large for a bitmap', () => {
    const occupancy = createOccupancy(setOf('2001:db8::/64', 6));
    const [first] = occupancy.freeFrom(hashedStart('a'));
    if (first === undefined) throw new Error('nothing free in a /64');
    occupancy.mark(first, true);
    const [second] = occupancy.freeFrom(hashedStart('a'));
    expect(second).not.toBe(first);
    expect(occupancy.taken).toBe(1);
  });

  test('finds nothing in an empty set', () => {
    expect([...createOccupancy(AddressSet.of(4, [])).freeFrom(7)]).toEqual([]);
  });
});

test('spreads hashed starts', () => {
  const buckets = new Set<number>();
  for (let index = 0; index < 256; index += 1)
    buckets.add(hashedStart(`cluster-${index}/web`) % 256);
  // 256 balls in 256 buckets fill about 63 % of them.
  expect(buckets.size).toBeGreaterThan(128);
});
