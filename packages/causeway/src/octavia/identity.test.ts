import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { LoadBalancer } from '@causeway/openstack/load-balancing/resources';
import { Identity, isKuryrs, sameProvider } from './identity.ts';

const uid = '0fa4a0a2-7b0e-4f5c-9e1a-3a4b5c6d7e8f';
const otherUid = '11111111-7b0e-4f5c-9e1a-3a4b5c6d7e8f';
const ours = new Identity({ id: 'prod', uid });
const owner = { namespace: 'shop', name: 'web', uid: 'u-1' };
const old = { description: 'Causeway, cluster prod: Service shop/web u-1' };

test('a description identifies its owner, and no other Service matches it', () => {
  const description = ours.description(owner);
  expect(ours.ownerOf({ description })).toEqual(owner);
  for (const id of ['prod-2', 'pro', 'other']) {
    const other = new Identity({ id, uid: otherUid });
    expect(other.isOurs({ description })).toBe(false);
    expect(other.isOfOtherCluster({ description })).toBe(true);
    expect(other.ownerOf({ description })).toBeUndefined();
  }
  const kept = { description: ours.keptDescription(owner) };
  expect([ours.isOurs(kept), ours.ownerOf(kept)]).toEqual([false, undefined]);
  expect(ours.isOfOtherCluster({ description: 'by hand' })).toBe(false);
});

test('the UID distinguishes two clusters with the same clusterId', () => {
  const other = new Identity({ id: 'prod', uid: otherUid });
  const mark = { description: ours.description(owner) };
  expect([ours.standing(mark), other.standing(mark)]).toEqual(['own', 'same-id']);
  expect(other.otherClusterOf(mark)).toBe(uid);
  expect([other.isOurs(mark), other.isOfOtherCluster(mark)]).toEqual([false, true]);
  expect(other.isMarkedFor(owner, mark)).toBe(false);
  const rule = { description: ours.ruleDescription };
  expect([ours.standing(rule), other.standing(rule)]).toEqual(['own', 'same-id']);
});

test('a mark of 0.1.0 identifies the Service, but not the cluster', () => {
  expect(ours.standing(old)).toBe('old');
  expect(ours.ownerOf(old)).toEqual(owner);
  expect(ours.isMarkedFor(owner, old)).toBe(true);
  expect(ours.isMarkedFor({ ...owner, uid: 'u-2' }, old)).toBe(false);
  expect(ours.standing({ description: 'Causeway, cluster prod: load balancers' })).toBe('old');
  // Without the setting, 0.1.0 wrote the UID itself.
  const unset = new Identity({ id: uid, uid });
  const before = { description: `Causeway, cluster ${uid}: Service shop/web u-1` };
  expect(unset.standing(before)).toBe('own');
  expect(unset.description(owner)).toBe(before.description);
});

test('a recreated Service finds the objects of its predecessor only with the UID of the cluster', () => {
  const again = { ...owner, uid: 'u-2' };
  expect(ours.isFormerOf(again, { description: ours.description(owner) })).toBe(true);
  expect(ours.isFormerOf(owner, { description: ours.description(owner) })).toBe(false);
  expect(ours.isFormerOf(again, old)).toBe(false);
});

test('the longest names leave enough of the UID to distinguish clusters', () => {
  const identity = new Identity({ id: 'c'.repeat(32), uid });
  const longest = { namespace: 'n'.repeat(63), name: 's'.repeat(63), uid };
  const description = identity.description(longest);
  expect(description).toHaveLength(255);
  expect(identity.standing({ description })).toBe('own');
  expect(identity.ownerOf({ description })).toEqual(longest);
  const other = new Identity({ id: 'c'.repeat(32), uid: otherUid });
  expect(other.standing({ description })).toBe('same-id');
});

test.each([
  ['its address', { address: '10.96.0.7' }, true],
  ['no address', {}, false],
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
