import { expect, test } from 'vitest';
import { matchesSubnet } from './floating-subnet.ts';

const subnet = { name: 'dmz-east', tags: ['public', 'east'] };

test.each<[string | undefined, string | undefined, boolean]>([
  [undefined, undefined, true],
  ['dmz-east', undefined, true],
  ['dmz', undefined, false],
  ['dmz-*', undefined, true],
  ['!dmz-*', undefined, false],
  ['~^dmz', undefined, true],
  ['!~^dmz', undefined, false],
  [undefined, 'public', true],
  [undefined, 'public,east', true],
  [undefined, 'public,west', false],
  ['dmz-*', '!west', true],
])('name %s and tags %s', (name, tags, expected) => {
  expect(matchesSubnet(subnet, name, tags)).toBe(expected);
});

test('rejects an invalid regular expression', () => {
  expect(() => matchesSubnet(subnet, '~(', undefined)).toThrow('is not a regular expression');
});

test.each([
  ['an expression', '~^(a+)+$'],
  ['a pattern', `${'a*'.repeat(40)}b`],
])('rejects %s, which would take hours to match', (_, pattern) => {
  const endless = { name: `${'a'.repeat(200)}!`, tags: [] };
  expect(() => matchesSubnet(endless, pattern, undefined)).toThrow('takes too long');
});

test('limits the length of a pattern', () => {
  expect(() => matchesSubnet(subnet, `~${'a'.repeat(255)}`, undefined)).toThrow('at most 255');
});
