import { expect, test } from 'vitest';
import { allowedSources } from './allowed-sources.ts';

const [four, six] = ['192.0.2.0/24', '2001:db8::/32'];

test.each([
  ['every source', undefined, 4, null, []],
  ['of the family of the VIP', [four], 4, [four], []],
  ['of both families', [four, six], 4, [four], [six]],
  ['of both families, with a VIP of IPv6', [four, six], 6, [six], [four]],
  ['of the other family alone: none', [six], 4, ['127.0.0.1/32'], [six]],
  ['none, with a VIP of IPv6', ['127.0.0.1/32'], 6, ['::1/128'], []],
] as const)('sources: %s', (_, cidrs, family, allowed, leftOut) => {
  expect(allowedSources(cidrs, family)).toEqual({ allowed, leftOut });
});
