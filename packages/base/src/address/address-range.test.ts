import { describe, expect, test } from 'vitest';
import { parseAddress } from './address.ts';
import { formatAddressRange, parseAddressRange, rangeOfAddress } from './address-range.ts';

describe('an address range', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.1-192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['192.0.2.1 - 192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['192.0.2.0/30', '192.0.2.0-192.0.2.3'],
    ['2001:DB8::1-2001:db8::f', '2001:db8::1-2001:db8::f'],
    ['2001:db8::/127', '2001:db8::-2001:db8::1'],
    ['192.0.2.9-192.0.2.9', '192.0.2.9'],
  ])('parses %s as %s', (text, canonical) => {
    expect(formatAddressRange(parseAddressRange(text))).toBe(canonical);
  });

  test.each([
    '',
    '-',
    '192.0.2.1-',
    '-192.0.2.1',
    '192.0.2.9-192.0.2.1',
    '192.0.2.1-2001:db8::1',
    '192.0.2.1-192.0.2.2-192.0.2.3',
    '192.0.2.1/24',
    '010.0.0.1',
    '192.0.2.1-9',
  ])('rejects %j', (text) => {
    expect(() => parseAddressRange(text)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });

  test('of one address contains only that address', () => {
    expect(formatAddressRange(rangeOfAddress(parseAddress('2001:db8::5')))).toBe('2001:db8::5');
  });
});
