import { expect, test } from 'vitest';
import { parsePort, parseProtocol } from './port.ts';

test.each([1, 80, 65535])('%d is a port', (value) => {
  expect(parsePort(value)).toBe(value);
});

test.each([0, -1, 65536, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('%d is none', (value) => {
  expect(() => parsePort(value)).toThrow('is not a port');
});

test('protocols are spelled as Kubernetes spells them', () => {
  expect(parseProtocol('SCTP')).toBe('SCTP');
  expect(() => parseProtocol('tcp')).toThrow('use TCP, UDP, SCTP');
});
