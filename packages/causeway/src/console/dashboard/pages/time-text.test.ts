import { expect, test } from 'vitest';
import { ago } from './time-text.ts';

const now = Date.parse('2026-01-02T00:00:00Z');

test.each([
  ['2026-01-01T23:59:58Z', '2 s'],
  ['2026-01-01T23:57:00Z', '3 min'],
  ['2026-01-01T12:30:00Z', '11 h'],
  ['2025-12-30T00:00:00Z', '3 d'],
  ['2026-01-02T00:00:05Z', '0 s'],
  ['', ''],
])('%s was %s ago', (at, text) => {
  expect(ago(at, now)).toBe(text);
});
