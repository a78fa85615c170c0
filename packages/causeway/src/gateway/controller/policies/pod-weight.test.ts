import { expect, test } from 'vitest';
import { invalidWeights, parseWeight } from './pod-weight.ts';

test.each([
  ['0', 0],
  ['1', 1],
  ['256', 256],
  ['257', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['', undefined],
  [' 1', undefined],
  ['0x10', undefined],
  ['1e2', undefined],
])('the weight %j is %s', (text, weight) => {
  expect(parseWeight(text)).toBe(weight);
});

test('pods with an invalid weight are named, at most three', () => {
  expect(invalidWeights([])).toBeUndefined();
  expect(invalidWeights(['a', 'b'])).toMatch(/: a, b$/);
  expect(invalidWeights(['a', 'b', 'c', 'd', 'e'])).toMatch(/: a, b, c and 2 more$/);
});
