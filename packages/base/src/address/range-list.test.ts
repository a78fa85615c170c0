import { expect, test } from 'vitest';
import { canonicalRanges, rangesId, sameRanges } from './range-list.ts';
import { formatPrefix, parsePrefix } from './prefix.ts';

const list = (...texts: readonly string[]) => texts.map(parsePrefix);

test('sorts ranges and removes duplicates', () => {
  const ranges = list('2001:db8::/32', '10.1.0.0/16', '10.0.0.0/8', '9.0.0.0/8', '10.0.0.0/8');
  expect(canonicalRanges([...ranges, ...list('10.0.0.0/16')]).map(formatPrefix)).toEqual([
    ...['9.0.0.0/8', '10.0.0.0/8', '10.0.0.0/16', '10.1.0.0/16', '2001:db8::/32'],
  ]);
});

test('returns a canonical list as the same object, so that ports share it', () => {
  const ranges = canonicalRanges(list('10.0.0.0/8', '9.0.0.0/8'));
  expect(canonicalRanges(ranges)).toBe(ranges);
});

test('treats lists with the same ranges as equal', () => {
  const ranges = list('10.0.0.0/8', '192.0.2.0/24');
  expect(sameRanges(ranges, list('10.0.0.0/8', '192.0.2.0/24'))).toBe(true);
  expect(sameRanges(ranges, list('10.0.0.0/8', '192.0.2.0/25'))).toBe(false);
  expect(sameRanges(ranges, list('10.0.0.0/8'))).toBe(false);
  expect(rangesId(ranges)).toMatch(/^[0-9a-f]{32}$/);
});
