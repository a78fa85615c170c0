import { expect, test } from 'vitest';
import { slowPatternsIn } from './patterns.ts';

test.each([
  [String.raw`/(\d+)(ms|s|m|h|d)/g`, 'polynomial'],
  [String.raw`/^(a+)+$/`, 'exponential'],
  [String.raw`/^\s*a?\s*$/`, 'polynomial'],
  [String.raw`/<[^>]*>/g`, 'polynomial'],
  [String.raw`/<body[^>]*>/`, 'polynomial'],
  [`new RegExp('-+$')`, 'polynomial'],
  ['new RegExp(name)', 'builds a pattern at run time'],
])('rejects %s', (pattern, expected) => {
  const found = slowPatternsIn('src/some.ts', `\nconst pattern = ${pattern};`);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(/^src\/some\.ts:2: /);
  expect(found[0]).toContain(expected);
});

test.each([
  [String.raw`/(\d{1,15})(ms|s|m|h|d)/y`],
  [String.raw`/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/`],
  [String.raw`/'([a-z-]+)'/`],
])('accepts %s', (pattern) => {
  expect(slowPatternsIn('src/some.ts', `const pattern = ${pattern};`)).toEqual([]);
});
