import { expect, test } from 'vitest';
import { parsePoolLabels } from './pool-labels.ts';

test.each<[string, Record<string, string>]>([
  ['', {}],
  ['tier=gold', { tier: 'gold' }],
  [' tier=gold , zone=b,', { tier: 'gold', zone: 'b' }],
  ['odd=a=b,none=', { odd: 'a=b', none: '' }],
])('accepts %j as labels', (text, labels) => {
  expect(parsePoolLabels(text)).toEqual(labels);
});

test.each(['gold', '=gold', 'tier=gold,b'])('refuses %j', (text) => {
  expect(() => parsePoolLabels(text)).toThrow('is not name=value');
});
