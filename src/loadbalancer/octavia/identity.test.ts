import { expect, test } from 'vitest';
import { parseAddress } from '../../domain/address.ts';
import type { LoadBalancer } from '../../openstack/load-balancing/resources.ts';
import { Identity, isKuryrs, sameProvider } from './identity.ts';

const ours = new Identity('prod');
const owner = { namespace: 'shop', name: 'web', uid: 'u-1' };

test('a description tells whose it is, and nobody else takes it for theirs', () => {
  const description = ours.description(owner);
  expect(ours.ownerOf({ description })).toEqual(owner);
  for (const id of ['prod-2', 'pro', 'other']) {
    const other = new Identity(id);
    expect(other.isOurs({ description })).toBe(false);
    expect(other.isOfOtherCluster({ description })).toBe(true);
    expect(other.ownerOf({ description })).toBeUndefined();
  }
  const kept = { description: ours.keptDescription(owner) };
  expect([ours.isOurs(kept), ours.ownerOf(kept)]).toEqual([false, undefined]);
  expect(ours.isOfOtherCluster({ description: 'by hand' })).toBe(false);
});

test.each([
  ['its address', { address: '10.96.0.7' }, true],
  ['no address to go by', {}, false],
  ['another address', { address: '10.96.0.8' }, false],
  ['another subnet', { address: '10.96.0.7', subnetId: 'x' }, false],
  ['another provider', { address: '10.96.0.7', provider: 'ovn' }, false],
] as const)("Kuryr's load balancer by %s", (_, wanted, expected) => {
  const balancer = {
    description: '',
    vipAddress: parseAddress('10.96.0.7'),
    vipSubnetId: 's',
    provider: 'amphora',
  } as LoadBalancer;
  expect(isKuryrs(balancer, wanted)).toBe(expected);
  expect(isKuryrs({ ...balancer, description: ours.description(owner) }, wanted)).toBe(false);
});

test('octavia is the old name of amphora', () => {
  expect(sameProvider('octavia', 'amphora')).toBe(true);
  expect(sameProvider('ovn', 'amphora')).toBe(false);
});
