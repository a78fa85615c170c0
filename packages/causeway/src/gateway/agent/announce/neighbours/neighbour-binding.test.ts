import { expect, test } from 'vitest';
import { parseAdvertisement, parseArp } from './neighbour-binding.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const request = '0001 0800 06 04 0001 02aabbccddee c0000201 000000000000 c0000209';
const advertisement = '88 00 0000 20000000 20010db8000000000000000000000001';

test.each([
  ['a request', request, '192.0.2.1 02:aa:bb:cc:dd:ee'],
  ['a request with trailing bytes', `${request} 0000`, '192.0.2.1 02:aa:bb:cc:dd:ee'],
  ['a request without a sender address', request.replace('c0000201', '00000000'), undefined],
  ['a request of another hardware type', request.replace('0001 0800', '0006 0800'), undefined],
  ['a truncated request', request.slice(0, 40), undefined],
])('ARP: %s', (_name, text, expected) => {
  const binding = parseArp(hex(text));
  expect(binding && `${binding.address} ${binding.hardware}`).toBe(expected);
});

test.each([
  ['an advertisement', `${advertisement} 02 01 02aabbccddee`, '2001:db8::1 02:aa:bb:cc:dd:ee'],
  ['an advertisement without a hardware address', advertisement, undefined],
  [
    'an advertisement with another option first',
    `${advertisement} 0e01000000000000 0201 02aabbccddee`,
    '2001:db8::1 02:aa:bb:cc:dd:ee',
  ],
  ['an option without a size', `${advertisement} 0e00000000000000`, undefined],
  ['an echo request', `80${advertisement.slice(2)} 02 01 02aabbccddee`, undefined],
])('IPv6: %s', (_name, text, expected) => {
  const binding = parseAdvertisement(hex(text));
  expect(binding && `${binding.address} ${binding.hardware}`).toBe(expected);
});
