import { describe, expect, test } from 'vitest';
import { judgeFlat, type Sample } from './flat.ts';

function samples(value: (index: number) => number, count = 60): Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    seconds: index * 10,
    value: value(index),
  }));
}

describe('what is flat', () => {
  test('what does not change, goes down, or goes up and down', () => {
    expect(judgeFlat(samples(() => 100)).isFlat).toBe(true);
    expect(judgeFlat(samples((index) => 100 - index)).isFlat).toBe(true);
    expect(judgeFlat(samples((index) => 100 + (index % 7) * 5)).isFlat).toBe(true);
  });

  test('a leak is not, however small beside the whole, and however noisy', () => {
    expect(judgeFlat(samples((index) => 100 + index / 5)).isFlat).toBe(false);
    expect(judgeFlat(samples((index) => 100 + index + (index % 5) * 3)).isFlat).toBe(false);
  });

  test('what rises in the beginning and stays', () => {
    expect(judgeFlat(samples((index) => Math.min(index, 15) * 10)).isFlat).toBe(true);
  });

  test('a few more of what is counted', () => {
    const few = samples((index) => (index < 40 ? 3 : 5));
    expect(judgeFlat(few).isFlat).toBe(false);
    expect(judgeFlat(few, 5).isFlat).toBe(true);
  });

  test('says by how much', () => {
    const { mean, growth } = judgeFlat(samples((index) => 10 * index, 60));
    expect(mean).toBeCloseTo(395);
    expect(growth).toBeCloseTo(390);
  });

  test('too few samples say nothing', () => {
    expect(() => judgeFlat(samples(() => 1, 3))).toThrow('2 samples are too few');
  });
});
