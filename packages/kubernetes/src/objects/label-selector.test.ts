import { expect, test } from 'vitest';
import { selectorMatches } from './label-selector.ts';
import type { LabelSelector } from './object.ts';

const labels = { app: 'web', tier: 'front' };
const expression = (key: string, operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist') => ({
  matchExpressions: [{ key, operator, values: ['web', 'api'] }],
});

test.each<[LabelSelector, boolean]>([
  [{}, true],
  [{ matchLabels: { app: 'web' } }, true],
  [{ matchLabels: { app: 'web', tier: 'back' } }, false],
  [expression('app', 'In'), true],
  [expression('tier', 'In'), false],
  [expression('none', 'In'), false],
  [expression('app', 'NotIn'), false],
  [expression('none', 'NotIn'), true],
  [expression('app', 'Exists'), true],
  [expression('none', 'Exists'), false],
  [expression('none', 'DoesNotExist'), true],
  [expression('app', 'DoesNotExist'), false],
  [expression('constructor', 'Exists'), false],
  [expression('toString', 'DoesNotExist'), true],
])('%j matches: %s', (selector, chosen) => {
  expect(selectorMatches(selector, labels)).toBe(chosen);
});
