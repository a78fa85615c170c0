import { describe, expect, test } from 'vitest';
import { fitsFormat } from './formats.ts';

describe('fitsFormat', () => {
  test.each([
    ['ipv4', '192.0.2.1', true],
    ['ipv4', '192.0.2.256', false],
    ['ipv4', '2001:db8::1', false],
    ['ipv6', '2001:db8::1', true],
    ['ipv6', '192.0.2.1', false],
    ['cidr', '192.0.2.0/24', true],
    ['cidr', '192.0.2.1', false],
    ['cidr', '2001:db8::/129', false],
    ['date-time', '2026-02-28T10:00:00Z', true],
    ['date-time', '2026-02-28T10:00:00.123+01:00', true],
    ['date-time', '2026-02-30T10:00:00Z', false],
    ['date', '2026-02-28', true],
    ['duration', '1h30m', true],
    ['duration', 'soon', false],
    ['hostname', 'example.com', true],
    ['hostname', '-example.com', false],
    ['mac', '00:11:22:33:44:55', true],
    ['mac', '00:11:22:33:44', false],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', true],
    ['uri', 'https://example.com/x?y=1', true],
    ['uri', 'example', false],
    ['byte', 'aGVsbG8=', true],
    ['byte', 'not base64', false],
    ['unheard-of', 'anything', true],
  ])('%s %s: %s', (format, text, fits) => {
    expect(fitsFormat(format, text)).toBe(fits);
  });
});
