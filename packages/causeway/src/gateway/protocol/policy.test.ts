import { expect, test } from 'vitest';
import { isPolicyName } from './policy.ts';

test.each([
  ['a', true],
  ['deny-all.v2', true],
  // Kubernetes limits the length of a DNS subdomain, but not of its parts.
  ['a'.repeat(64), true],
  ['a'.repeat(253), true],
  ['a'.repeat(254), false],
  ['a..b', false],
  ['-a', false],
  ['A', false],
  ['', false],
])("checks whether %s is a policy's name: %s", (name, isName) => {
  expect(isPolicyName(name)).toBe(isName);
});
