import { expect, test } from 'vitest';
import { parsePort, parseProtocol } from './port.ts';

test.each([1, 80, 65535])('accepts port %d', (value) => {
  expect(parsePort(value)).toBe(value);
});

test.each([0, -1, 65536, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects port %d', (value) => {
  expect(() => parsePort(value)).toThrow('is not a port');
});

test('spells protocols as Kubernetes does', () => {
  expect(parseProtocol('SCTP')).toBe('SCTP');
  expect(() => parseProtocol('tcp')).toThrow('use TCP, UDP, SCTP');
});
