import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressFromBytes, addressToInteger, familyOf, parseAddress } from './address.ts';
import {
  comparePrefixes,
  formatPrefix,
  hostPrefix,
  lastAddress,
  parseInterface,
  parsePrefix,
  prefixContains,
  prefixesOverlap,
  prefixOf,
  prefixSize,
} from './prefix.ts';

test.each(['192.0.2.0/24', '0.0.0.0/0', '10.0.0.1/32', '2001:db8::/32', '::/0', '::1/128'])(
  'parses %s',
  (text) => {
    expect(formatPrefix(parsePrefix(text))).toBe(text);
  },
);

test.each([
  ...[
    '192.0.2.0',
    '192.0.2.0/',
    '/24',
    '1.2.3.4/33',
    '::/129',
    '1.2.3.0/024',
    '1.2.3.0/+8',
    '1.2.3.0/8 ',
  ],
  ...['10.1/16', '010.0.0.0/8', '1.2.3.0/24/24', '1.2.3.0/-1', '::1%eth0/128'],
])('rejects %j', (text) => {
  expect(() => parsePrefix(text)).toThrow();
});

test.each(['192.0.2.1/32', '2001:db8::1/128'])(
  'returns %s as the prefix of one address',
  (text) => {
    const prefix = parsePrefix(text);
    expect(hostPrefix(prefix.address)).toEqual(prefix);
  },
);

test('rejects host bits and suggests the network', () => {
  expect(() => parsePrefix('192.0.2.1/24')).toThrow(
    expect.objectContaining({ code: 'invalid', hint: 'The network is 192.0.2.0/24.' }),
  );
  expect(parseInterface('192.0.2.1/24')).toEqual({ address: '192.0.2.1', length: 24 });
});

const anyPrefix = fc
  .tuple(
    fc.oneof(
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
    ),
    fc.nat(),
  )
  .map(([bytes, length]) => prefixOf(addressFromBytes(bytes), length % (bytes.length * 8 + 1)));

test('contains its first and last address, and not the addresses before and after', () => {
  fc.assert(
    fc.property(anyPrefix, (prefix) => {
      const last = lastAddress(prefix);
      expect(prefixContains(prefix, prefix.address)).toBe(true);
      expect(prefixContains(prefix, last)).toBe(true);
      expect(addressToInteger(last) - addressToInteger(prefix.address) + 1n).toBe(
        prefixSize(prefix),
      );
      expect(parsePrefix(formatPrefix(prefix))).toEqual(prefix);
    }),
  );
});

test('overlaps another prefix exactly if one contains the other', () => {
  fc.assert(
    fc.property(anyPrefix, anyPrefix, (left, right) => {
      const sameFamily = familyOf(left.address) === familyOf(right.address);
      const first = addressToInteger(left.address) <= addressToInteger(lastAddress(right));
      const second = addressToInteger(right.address) <= addressToInteger(lastAddress(left));
      expect(prefixesOverlap(left, right)).toBe(sameFamily && first && second);
      expect(Math.sign(comparePrefixes(left, right))).toBe(
        -Math.sign(comparePrefixes(right, left)) + 0,
      );
    }),
  );
});

test('never contains an address of the other family', () => {
  expect(prefixContains(parsePrefix('::/0'), parseAddress('1.2.3.4'))).toBe(false);
});
