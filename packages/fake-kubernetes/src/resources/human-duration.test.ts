import { describe, expect, test } from 'vitest';
import { humanDuration } from './human-duration.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe('humanDuration', () => {
  test.each([
    [-5 * second, '<invalid>'],
    [-1 * second, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [120 * second, '2m'],
    [3 * minute + 20 * second, '3m20s'],
    [10 * minute + 20 * second, '10m'],
    [179 * minute, '179m'],
    [180 * minute, '3h'],
    [3 * hour + 5 * minute, '3h5m'],
    [47 * hour, '47h'],
    [2 * day + 4 * hour, '2d4h'],
    [9 * day, '9d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [731 * day, '2y1d'],
    [9 * 365 * day, '9y'],
  ])('%d ms is %s', (milliseconds, text) => {
    expect(humanDuration(milliseconds)).toBe(text);
  });
});
