import { expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

test.each([
  ['250ms', 250],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['7d', 604_800_000],
  ['0s', 0],
])('parses %s as %i ms', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each(['', '10', '1.5h', '-3s', '1h 30m', 's', '5x'])('rejects %j', (text) => {
  expect(() => parseDuration(text)).toThrow('not a length of time');
});

test.each([
  ['digits', '1'.repeat(200_000)],
  ['parts', '1h'.repeat(100_000)],
  ['digits before a unit', `${'1'.repeat(16)}d`],
])('rejects a text of many %s with a short message', (_, text) => {
  expect(() => parseDuration(text)).toThrow(/^.{1,150}is not a length of time$/);
});
