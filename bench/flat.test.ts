import { describe, expect, test } from 'vitest';
import { judgeFlat, type Sample } from './flat.ts';

function samples(value: (index: number) => number, count = 60): Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    seconds: index * 10,
    value: value(index),
  }));
}

describe('flat values', () => {
  test('constant, falling or oscillating values are flat', () => {
    expect(judgeFlat(samples(() => 100)).isFlat).toBe(true);
    expect(judgeFlat(samples((index) => 100 - index)).isFlat).toBe(true);
    expect(judgeFlat(samples((index) => 100 + (index % 7) * 5)).isFlat).toBe(true);
  });

  test('a leak is not flat, however small and noisy', () => {
    expect(judgeFlat(samples((index) => 100 + index / 5)).isFlat).toBe(false);
    expect(judgeFlat(samples((index) => 100 + index + (index % 5) * 3)).isFlat).toBe(false);
  });

  test('values that rise at first and then stay are flat', () => {
    expect(judgeFlat(samples((index) => Math.min(index, 15) * 10)).isFlat).toBe(true);
  });

  test('a small increase of a count is flat', () => {
    const few = samples((index) => (index < 40 ? 3 : 5));
    expect(judgeFlat(few).isFlat).toBe(false);
    expect(judgeFlat(few, 5).isFlat).toBe(true);
  });

  test('reports the growth', () => {
    const { mean, growth } = judgeFlat(samples((index) => 10 * index, 60));
    expect(mean).toBeCloseTo(395);
    expect(growth).toBeCloseTo(390);
  });

  test('too few samples give no verdict', () => {
    expect(() => judgeFlat(samples(() => 1, 3))).toThrow('2 samples are too few');
  });
});
