import { describe, expect, test } from 'vitest';
import { formatAddressRange } from '@causeway/base/address/address-range';
import { demandOf } from './test-allocator.testing.ts';
import { buildPools, eligiblePools, families, refuseOverlap, type Pool } from './pool.ts';
import { poolSpecSchema, type PoolSpec } from './records.ts';

const specOf = (spec: Partial<PoolSpec>) =>
  poolSpecSchema.parse({ name: 'p', addresses: ['192.0.2.0/24'], ...spec });
const rangesOf = ({ sets }: Pool) =>
  families.flatMap((family) => sets[family].ranges.map(formatAddressRange)).join(' ');
const handedOut = (spec: Partial<PoolSpec>) =>
  buildPools([specOf(spec)])
    .map(rangesOf)
    .join();

describe('the addresses that a pool assigns', () => {
  test.each<[string, Partial<PoolSpec>, string]>([
    ['a network without its network and broadcast', {}, '192.0.2.1-192.0.2.254'],
    ['all of a /31', { addresses: ['192.0.2.0/31'] }, '192.0.2.0-192.0.2.1'],
    ['all of a /32', { addresses: ['192.0.2.7/32'] }, '192.0.2.7'],
    [
      'not the gateway',
      { addresses: ['192.0.2.0/29'], gateways: ['192.0.2.1'] },
      '192.0.2.2-192.0.2.6',
    ],
    [
      'not what is excluded',
      { addresses: ['192.0.2.0/28'], exclude: ['192.0.2.4-192.0.2.7', '192.0.2.12/30'] },
      '192.0.2.1-192.0.2.3 192.0.2.8-192.0.2.11',
    ],
    [
      'ranges without the network and broadcast of their subnet',
      { addresses: ['192.0.2.0-192.0.2.9', '192.0.2.250-192.0.2.255'], subnets: ['192.0.2.0/24'] },
      '192.0.2.1-192.0.2.9 192.0.2.250-192.0.2.254',
    ],
    [
      'ranges as they are, if their subnet is unknown',
      { addresses: ['192.0.2.0-192.0.2.3'] },
      '192.0.2.0-192.0.2.3',
    ],
    [
      'IPv6 without the subnet-router anycast, and both families from one pool',
      { addresses: ['192.0.2.5', '2001:db8::/126'] },
      '192.0.2.5 2001:db8::1-2001:db8::3',
    ],
  ])('%s', (_name, spec, expected) => {
    expect(handedOut(spec)).toBe(expected);
  });
});

test('excludes the gateways and network addresses of one pool from all pools', () => {
  const pools = buildPools([
    specOf({ name: 'one', addresses: ['192.0.2.0/25'], gateways: ['192.0.2.201'] }),
    specOf({ name: 'two', addresses: ['192.0.2.127-192.0.2.202'], exclude: ['192.0.2.130'] }),
    specOf({ name: 'six', addresses: ['2001:db8::1-2001:db8::4'], subnets: ['2001:db8::/126'] }),
    specOf({ name: 'seven', addresses: ['2001:db8::', '2001:db8::5'] }),
  ]);
  expect(pools.map(rangesOf)).toEqual([
    '192.0.2.1-192.0.2.126',
    '192.0.2.128-192.0.2.129 192.0.2.131-192.0.2.200 192.0.2.202',
    '2001:db8::1-2001:db8::4',
    '2001:db8::5',
  ]);
});

test('refuses overlapping pools, with the addresses that they share', () => {
  const pools = buildPools([
    specOf({ name: 'one' }),
    specOf({ name: 'other', addresses: ['192.0.2.200-192.0.3.10'] }),
  ]);
  const [one, other] = pools;
  if (one === undefined || other === undefined) throw new Error('two pools');
  expect(() => refuseOverlap(other, pools)).toThrow(
    'pool other overlaps pool one in 192.0.2.200-192.0.2.254',
  );
  expect(() => refuseOverlap(one, [one])).not.toThrow();
});

test('tries pools in order: dedicated before common, then by priority, then by name', () => {
  const pools = buildPools([
    specOf({ name: 'b' }),
    specOf({ name: 'a' }),
    specOf({ name: 'first', priority: 5 }),
    specOf({ name: 'drained', priority: 9, drained: true }),
    specOf({ name: 'control', purposes: ['control-plane'], priority: -5 }),
    specOf({ name: 'balancers', purposes: ['load-balancer'] }),
    specOf({ name: 'labelled', labels: { tier: 'gold' } }),
  ]);
  const names = (demand: object) =>
    eligiblePools(pools, demandOf({ uid: 'u', ...demand })).map(({ spec }) => spec.name);
  expect(names({})).toEqual(['balancers', 'first', 'a', 'b', 'labelled']);
  expect(names({ purpose: 'control-plane' })).toEqual(['control', 'first', 'a', 'b', 'labelled']);
  expect(names({ poolLabels: { tier: 'gold' } })).toEqual(['labelled']);
  expect(names({ pool: 'a' })).toEqual(['a']);
  expect(names({ pool: 'drained' })).toEqual([]);
});
