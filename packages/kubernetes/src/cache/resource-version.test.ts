import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareResourceVersions } from './resource-version.ts';

const version = fc.bigInt({ min: 1n, max: 2n ** 64n });

describe('compareResourceVersions', () => {
  it('orders them as numbers of any size', () => {
    fc.assert(
      fc.property(version, version, (left, right) => {
        const order = compareResourceVersions(String(left), String(right)) ?? Number.NaN;
        expect(Math.sign(order)).toBe(left < right ? -1 : left > right ? 1 : 0);
      }),
    );
  });

  it.each([
    ['', '1'],
    ['1', ''],
    ['abc', '1'],
    ['1', '01'],
    ['1', '-1'],
    ['1', '1.5'],
  ])('does not compare %j with %j', (left, right) => {
    expect(compareResourceVersions(left, right)).toBeUndefined();
  });

  it('treats the same text as the same version, in any format', () => {
    expect(compareResourceVersions('opaque', 'opaque')).toBe(0);
  });
});
