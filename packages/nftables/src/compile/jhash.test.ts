import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jhash, scaleHash } from './jhash.ts';

// test/kernel/nftables verifies with real packets that these are the kernel's values.
test.each([
  [[], 0, 0xdeadbeef],
  [[10, 77, 0, 100, 156, 64, 0, 0], 0x5eed, 0x78d9e4a4],
  [Array.from({ length: 20 }, (_, index) => index), 7, 0xad4f8fd5],
])('of %j with the seed %i does not change', (bytes, seed, expected) => {
  expect(jhash(Uint8Array.from(bytes), seed)).toBe(expected);
});

test('depends on every byte and on the seed', () => {
  const keys = fc.uint8Array({ minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(keys, fc.nat(), fc.integer({ min: 1, max: 255 }), (key, which, difference) => {
      const other = Uint8Array.from(key);
      const index = which % key.length;
      other[index] = (key[index] ?? 0) ^ difference;
      expect(jhash(other, 1)).not.toBe(jhash(key, 1));
      expect(jhash(key, 2)).not.toBe(jhash(key, 1));
    }),
  );
});

test('a table of twice the size splits slot s into 2s and 2s + 1', () => {
  const hashes = fc.integer({ min: 0, max: 0xffffffff });
  fc.assert(
    fc.property(hashes, fc.integer({ min: 0, max: 16 }), (hash, doublings) => {
      const size = 2 ** doublings;
      expect(scaleHash(hash, 2 * size) >> 1).toBe(scaleHash(hash, size));
      expect(scaleHash(hash, size)).toBeLessThan(size);
    }),
  );
});
