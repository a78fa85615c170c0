import net from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addressBytes,
  addressFromBytes,
  addressFromInteger,
  addressToInteger,
  compareAddresses,
  familyOf,
  parseAddress,
  tryParseAddress,
} from './address.ts';

describe('parseAddress', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['1:0:0:2:0:0:3:4', '1::2:0:0:3:4'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['::ffff:1.2.3.4', '::ffff:102:304'],
  ])('parses %s as %s', (text, canonical) => {
    expect(parseAddress(text)).toBe(canonical);
  });

  test.each([
    ...['', ' ', '1.2.3', '10.1', '1.2.3.4.5', '010.1.1.1', '1.1.1.01', '256.1.1.1', '0x0a.1.1.1'],
    ...[
      '1.2.3.4 ',
      ' 1.2.3.4',
      '1.2.3.4\n',
      '1..2.3',
      '-1.2.3.4',
      '1e1.2.3.4',
      '1.2.3.4/32',
      '١.1.1.1',
    ],
    ...[
      ':',
      ':::',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1::2::3',
      '12345::',
      'g::',
      ':1::',
      '1::2:',
    ],
    ...[
      '1:2:3:4:5:6:7:8::',
      '::1%eth0',
      '::ffff:1.2.3.4%eth0',
      '::1.2.3',
      '1.2.3.4::',
      '::1.2.3.4:5',
      '[::1]',
    ],
  ])('rejects %j', (text) => {
    expect(tryParseAddress(text)).toBeUndefined();
    expect(() => parseAddress(text)).toThrow('is not an IP address');
  });

  test('accepts the same addresses as the platform, except for zones and other lenient spellings', () => {
    const text = fc.stringMatching(/^[0-9a-f:.]{0,20}$/);
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), text), (candidate) => {
        expect(tryParseAddress(candidate) !== undefined).toBe(net.isIP(candidate) !== 0);
      }),
      { numRuns: 2_000 },
    );
  });
});

const anyBytes = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
);

test('converts between bytes, text and integers without loss', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const address = addressFromBytes(bytes);
      expect(addressBytes(address)).toEqual(bytes);
      expect(parseAddress(address)).toBe(address);
      expect(addressFromInteger(addressToInteger(address), familyOf(address))).toBe(address);
    }),
  );
});

test('orders by family, then by value', () => {
  fc.assert(
    fc.property(anyBytes, anyBytes, (left, right) => {
      const [a, b] = [addressFromBytes(left), addressFromBytes(right)];
      const byValue = addressToInteger(a) < addressToInteger(b) ? -1 : a === b ? 0 : 1;
      const expected = familyOf(a) === familyOf(b) ? byValue : familyOf(a) - familyOf(b);
      expect(Math.sign(compareAddresses(a, b))).toBe(Math.sign(expected));
    }),
  );
});

test('rejects an integer outside the family', () => {
  expect(() => addressFromInteger(1n << 32n, 4)).toThrow('outside the IPv4');
  expect(() => addressFromInteger(-1n, 6)).toThrow('outside the IPv6');
});
