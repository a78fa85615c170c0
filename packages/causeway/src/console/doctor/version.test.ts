import { expect, test } from 'vitest';
import { findVersion, isAtLeast } from './version.ts';

test.each([
  ['nftables v1.0.6 (Lester Gooch #5)', [1, 0, 6]],
  ['Keepalived v2.2.7 (01/16,2022)', [2, 2, 7]],
  ['6.1', [6, 1, 0]],
  ['none', undefined],
])('%s', (text, expected) => {
  expect(findVersion(text)).toEqual(expected);
});

test.each([
  [[1, 0, 6], [1, 0, 2], true],
  [[1, 0, 1], [1, 0, 2], false],
  [[2], [1, 9, 9], true],
  [[5, 15, 0], [6, 1], false],
  [[6, 1, 0], [6, 1], true],
])('%j is at least %j: %s', (version, least, expected) => {
  expect(isAtLeast(version, least)).toBe(expected);
});
