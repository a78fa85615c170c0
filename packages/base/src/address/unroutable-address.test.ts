import { expect, test } from 'vitest';
import { parseAddress } from './address.ts';
import { isUnroutable } from './unroutable-address.ts';

test.each([
  ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '169.254.1.1', '224.0.0.1', '239.1.1.1'],
  ...['255.255.255.255', '::', '::1', '::ffff:192.0.2.1', 'fe80::1', 'febf::1', 'ff02::1'],
])('%s is unroutable', (text) => {
  expect(isUnroutable(parseAddress(text))).toBe(true);
});

test.each([
  ...['1.0.0.0', '10.0.0.1', '128.0.0.1', '169.253.1.1', '192.0.2.1', '223.255.255.255'],
  ...['240.0.0.1', '::2', '::1:0:0', '2001:db8::1', 'fec0::1', 'fd00::1', '64:ff9b::1'],
])('%s is routable', (text) => {
  expect(isUnroutable(parseAddress(text))).toBe(false);
});
