import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { TestAllocator, refusal } from './test-allocator.testing.ts';
import { serveQueue } from './maintenance-decisions.ts';
import { drainPool, suspendSite } from './site-decisions.ts';

const pool = { name: 'p', addresses: ['192.0.2.1-192.0.2.4'] };
const [one, two, three] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const;
const later = 2_000_000;

/**
 * Clusters `a` and `b`; owner `1` of `a` holds the first address, and the site is recovering from then on.
 */
const recoveringAllocator = () => {
  const testAllocator = new TestAllocator()
    .withSite([pool])
    .withCluster('a', { quota: 2 })
    .withCluster('b');
  testAllocator.reserve('a', { uid: '1', addresses: [one] });
  testAllocator.run(suspendSite({ site: 's', as: 'recovering' }));
  return testAllocator;
};
const confirm = (
  testAllocator: TestAllocator,
  cluster: string,
  uid: string,
  address: string,
  more = {},
) => testAllocator.reserve(cluster, { uid, addresses: [address], inUse: true, ...more });
const ownersOf = (testAllocator: TestAllocator, address: string) => {
  const record = testAllocator.view.site('s')?.addresses.get(parseAddress(address))?.record;
  return record?.state === 'held' ? record.owners.map(({ uid }) => uid) : record?.state;
};

describe('while a site recovers', () => {
  test('accepts an address that is in use', () => {
    const testAllocator = recoveringAllocator();
    expect(confirm(testAllocator, 'b', 'x', two)).toMatchObject({
      reservation: { addresses: [{ address: two, pool: 'p' }] },
    });
    expect(confirm(testAllocator, 'a', '1', one)).toMatchObject({
      reservation: { addresses: [{ address: one }] },
    });
    testAllocator.run(suspendSite({ site: 's', as: undefined }));
    expect([three, '192.0.2.4']).toContain(testAllocator.take('a', 'new'));
  });

  test('assigns nothing else: a free address may be in use', () => {
    const testAllocator = recoveringAllocator();
    expect(() => testAllocator.take('a', 'new')).toThrow(refusal('recovering'));
    expect(() => testAllocator.reserve('a', { uid: 'new', addresses: [two] })).toThrow(
      refusal('recovering'),
    );
    // The owner may have freed it since, and another cluster may have it.
    expect(() => testAllocator.take('a', '1')).toThrow(refusal('recovering'));
  });

  test('refuses to join or take over an address that the request does not name as in use', () => {
    const testAllocator = new TestAllocator()
      .withSite([pool], { quarantineMs: 100, keepMs: 100 })
      .withCluster('a');
    testAllocator.take('a', 'shares', { sharingKey: 'k', ports: ['TCP/80'] });
    testAllocator.take('a', 'left', { namespace: 'n', name: 'web' });
    testAllocator.free('a', 'left');
    testAllocator.run(suspendSite({ site: 's', as: 'recovering' }));
    const joins = { sharingKey: 'k', ports: ['TCP/443'] };
    expect(() => testAllocator.take('a', 'joins', joins)).toThrow(refusal('recovering'));
    const again = { namespace: 'n', name: 'web' };
    expect(() => testAllocator.take('a', 'again', again)).toThrow(refusal('recovering'));
  });

  test('leaves an address with the cluster that holds it, and accepts the other cluster after its release', () => {
    const testAllocator = recoveringAllocator();
    expect(() => confirm(testAllocator, 'b', 'x', one)).toThrow(refusal('recovering'));
    testAllocator.free('a', '1');
    confirm(testAllocator, 'b', 'x', one);
    expect(ownersOf(testAllocator, one)).toEqual(['x']);
  });

  test('moves an owner to the address that it uses; the old one goes into quarantine', () => {
    const testAllocator = recoveringAllocator();
    const fencingToken = testAllocator.view.site('s')?.addresses.get(parseAddress(one))?.record;
    confirm(testAllocator, 'a', '1', two);
    expect(ownersOf(testAllocator, two)).toEqual(['1']);
    expect(ownersOf(testAllocator, one)).toBe('resting');
    expect(fencingToken).toMatchObject({
      owners: [{ fencingToken: testAllocator.fencingTokenOf('a', '1', two) }],
    });
  });

  test('gives the address to a recreated owner of the same cluster', () => {
    const testAllocator = recoveringAllocator();
    confirm(testAllocator, 'a', 'anew', one);
    expect(ownersOf(testAllocator, one)).toEqual(['anew']);
  });

  test('accepts sharing owners one after another', () => {
    const testAllocator = recoveringAllocator();
    const shared = (port: string) => ({ sharingKey: 'k', ports: [port] });
    confirm(testAllocator, 'a', 'x', two, shared('TCP/80'));
    confirm(testAllocator, 'a', 'y', two, shared('TCP/443'));
    expect(ownersOf(testAllocator, two)).toEqual(['x', 'y']);
    confirm(testAllocator, 'a', 'z', two, shared('TCP/80'));
    expect(ownersOf(testAllocator, two)).toEqual(['y', 'z']);
  });

  test('accepts an address in use despite a drain or a quota, but not outside of all pools', () => {
    const testAllocator = recoveringAllocator();
    testAllocator.run(drainPool({ site: 's', pool: 'p', drained: true }));
    confirm(testAllocator, 'a', '2', two);
    confirm(testAllocator, 'a', '3', three);
    expect(() => confirm(testAllocator, 'a', '4', '198.51.100.1')).toThrow(
      refusal('address-outside'),
    );
  });

  test('assigns no address of a family that the request does not name', () => {
    const testAllocator = recoveringAllocator();
    testAllocator.run(suspendSite({ site: 's', as: undefined }));
    testAllocator.withSite([{ name: 'six', addresses: ['2001:db8::5'] }]);
    testAllocator.run(suspendSite({ site: 's', as: 'recovering' }));
    const answer = confirm(testAllocator, 'a', '1', one, { families: [4, 6] });
    expect(answer).toMatchObject({ reservation: { addresses: [{ address: one }] } });
  });

  test('keeps the place of a waiter', () => {
    const testAllocator = new TestAllocator()
      .withSite([{ name: 'p', addresses: [one] }])
      .withCluster('a');
    testAllocator.take('a', '1');
    testAllocator.reserve('a', { uid: 'waits' }, later);
    testAllocator.run(suspendSite({ site: 's', as: 'recovering' }));
    testAllocator.free('a', '1');
    expect(testAllocator.run(serveQueue('s'))).toBeUndefined();
    testAllocator.run(suspendSite({ site: 's', as: undefined }));
    expect(testAllocator.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'waits' } });
  });
});
