import { expect, test } from 'vitest';
import { withoutLeadingZeros } from './leading-zeros.ts';

test.each([
  ['010.0.00.1/8', '10.0.0.1/8'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['10.20.100.0/24', '10.20.100.0/24'],
  ['000.000.000.010', '0.0.0.10'],
  ['2001:db8::/32', '2001:db8::/32'],
  ['::ffff:10.00.0.01/128', '::ffff:10.0.0.1/128'],
  ['0a.b', '0a.b'],
])('rewrites %s as %s', (text, expected) => {
  expect(withoutLeadingZeros(text)).toBe(expected);
});
