import { describe, expect, test } from 'vitest';
import { canonicalQuantity } from './quantity.ts';

describe('canonicalQuantity', () => {
  test.each<readonly [number | string, string]>([
    [1, '1'],
    [0.5, '500m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['0.1', '100m'],
    ['1Gi', '1Gi'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['1000k', '1M'],
    ['1000', '1k'],
    ['0', '0'],
    ['100n', '100n'],
    ['1e3', '1e3'],
    ['soon', 'soon'],
  ])('%s is %s', (given, text) => {
    expect(canonicalQuantity(given)).toBe(text);
  });
});
