import { expect, test } from 'vitest';
import { compiledPattern, TooLongToMatch } from './pattern.ts';

test.each([
  ['^[a-z]+-[0-9]$', 'web-1', 'web-1'],
  ['(?i)^abc\\z', 'ABC', 'ABC'],
  ['(?P<digits>[0-9]+)', 'web-12', '12'],
  ['\\-', 'a-b', '-'],
  ['^$', '', ''],
  ['[0-9]', 'web', undefined],
])('%s finds in %s: %s', (pattern, text, found) => {
  expect(compiledPattern(pattern)?.find(text)).toBe(found);
});

test.each(['(', '(?=a)', '(a)\\1', '((a{100}){100}){100}'])('%s is not valid in Go', (pattern) => {
  expect(compiledPattern(pattern)).toBeUndefined();
});

test('a pattern that backtracks without end elsewhere ends here', () => {
  const text = `${'a'.repeat(10_000)}!`;
  expect(compiledPattern('(a+)+$')?.find(text)).toBeUndefined();
  expect(compiledPattern('^(([a-z])+.)+[A-Z]([a-z])+$')?.find(text)).toBeUndefined();
});

test('does not start a match that takes too many steps', () => {
  const pattern = compiledPattern('(a{1000})?'.repeat(50));
  expect(pattern?.find('a')).toBe('');
  expect(() => pattern?.find('a'.repeat(10_000))).toThrow(TooLongToMatch);
});
