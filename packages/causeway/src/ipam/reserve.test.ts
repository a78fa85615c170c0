import { describe, expect, test } from 'vitest';
import { TestAllocator, refusal } from './test-allocator.testing.ts';
import { keys } from './keys.ts';
import { parseAddress } from '@causeway/base/address/address';
import { drainPool, setPool, suspendSite } from './site-decisions.ts';
import { poolSpecSchema } from './records.ts';

const fourAddresses = { name: 'p', addresses: ['192.0.2.0-192.0.2.3'] };

describe('a reservation', () => {
  test('gives the same owner the same address again', () => {
    const testAllocator = new TestAllocator().withSite([fourAddresses]).withCluster('a');
    const first = testAllocator.reserve('a', { uid: 'u' });
    expect(testAllocator.reserve('a', { uid: 'u' })).toEqual(first);
    expect(first).toMatchObject({
      state: 'held',
      reservation: { fencingToken: testAllocator.now + 1 },
    });
  });

  test('gives different owners different addresses until none is left', () => {
    const testAllocator = new TestAllocator()
      .withSite([fourAddresses])
      .withCluster('a')
      .withCluster('b');
    const got = ['1', '2', '3', '4'].map((uid) => testAllocator.take(uid < '3' ? 'a' : 'b', uid));
    expect(new Set(got).size).toBe(4);
    expect(() => testAllocator.take('a', '5')).toThrow(refusal('pool-exhausted'));
    expect(testAllocator.take('a', '1')).toBe(got[0]);
  });

  test('the same UID in two clusters is two owners', () => {
    const testAllocator = new TestAllocator()
      .withSite([fourAddresses])
      .withCluster('a')
      .withCluster('b');
    expect(testAllocator.take('a', 'u')).not.toBe(testAllocator.take('b', 'u'));
  });

  test('takes both families or none', () => {
    const pools = [fourAddresses, { name: 'six', addresses: ['2001:db8::5'] }];
    const testAllocator = new TestAllocator().withSite(pools).withCluster('a');
    expect(testAllocator.take('a', '1', { families: [4, 6] })).toMatch(
      /^192\.0\.2\.\d 2001:db8::5$/,
    );
    expect(() => testAllocator.take('a', '2', { families: [4, 6] })).toThrow(
      'no IPv6 address is left',
    );
    expect(testAllocator.view.site('s')?.addresses.size).toBe(2);
  });

  test('adds the family that is missing and keeps the one it has', () => {
    const pools = [fourAddresses, { name: 'six', addresses: ['2001:db8::5'] }];
    const testAllocator = new TestAllocator().withSite(pools).withCluster('a');
    const four = testAllocator.take('a', 'u');
    const fencingToken = testAllocator.fencingTokenOf('a', 'u');
    expect(testAllocator.take('a', 'u', { families: [4, 6] })).toBe(`${four} 2001:db8::5`);
    expect(testAllocator.fencingTokenOf('a', 'u')).toBe(fencingToken);
    expect(testAllocator.free('a', 'u', { fencingToken })).toHaveLength(2);
  });

  test('gets a requested address, or the reason why not', () => {
    const testAllocator = new TestAllocator().withSite([
      { name: 'p', addresses: ['192.0.2.0/29'], gateways: ['192.0.2.1'] },
    ]);
    testAllocator.withCluster('a').withCluster('b');
    const named = (address: string) => ({ addresses: [address] });
    expect(testAllocator.reserve('a', { uid: '1', ...named('192.0.2.3') })).toMatchObject({
      reservation: { addresses: [{ address: '192.0.2.3' }] },
    });
    for (const never of ['192.0.2.0', '192.0.2.1', '192.0.2.7', '198.51.100.1']) {
      expect(() => testAllocator.reserve('a', { uid: '2', ...named(never) })).toThrow(
        refusal('address-outside'),
      );
    }
    expect(() => testAllocator.reserve('b', { uid: '2', ...named('192.0.2.3') })).toThrow(
      refusal('address-in-use'),
    );
    expect(() => testAllocator.reserve('a', { uid: '1', ...named('192.0.2.4') })).toThrow(
      refusal('other-address'),
    );
    expect(testAllocator.take('a', '1')).toBe('192.0.2.3');
  });

  test('respects the quota, also for two addresses at once', () => {
    const pools = [fourAddresses, { name: 'six', addresses: ['2001:db8::/120'] }];
    const testAllocator = new TestAllocator()
      .withSite(pools, { defaultQuota: 1 })
      .withCluster('a', { quota: 3 });
    testAllocator.take('a', '1', { families: [4, 6] });
    expect(() => testAllocator.take('a', '2', { families: [4, 6] })).toThrow(refusal('quota'));
    testAllocator.take('a', '2');
    expect(() => testAllocator.take('a', '3')).toThrow(refusal('quota'));
    expect(testAllocator.take('a', '2')).toBeDefined();
    testAllocator.free('a', '2');
    testAllocator.take('a', '3');
    testAllocator.withCluster('b').take('b', '1');
    expect(() => testAllocator.take('b', '2')).toThrow(refusal('quota'));
  });

  test('waits for running transactions before it reports that no address is left', () => {
    const testAllocator = new TestAllocator()
      .withSite([{ name: 'p', addresses: ['192.0.2.1'] }])
      .withCluster('a');
    testAllocator.busy.add(keys.address('s', parseAddress('192.0.2.1')));
    expect(() => testAllocator.take('a', 'u')).toThrow('busy');
  });

  test('takes nothing from a drained pool and keeps the addresses held there', () => {
    const testAllocator = new TestAllocator().withSite([fourAddresses]).withCluster('a');
    const held = testAllocator.take('a', '1');
    testAllocator.run(drainPool({ site: 's', pool: 'p', drained: true }));
    expect(() => testAllocator.take('a', '2')).toThrow(refusal('pool-exhausted'));
    expect(testAllocator.take('a', '1')).toBe(held);
    testAllocator.run(drainPool({ site: 's', pool: 'p', drained: false }));
    testAllocator.take('a', '2');
  });

  test('keeps its address after a resize that excludes it, and the address is not assigned again', () => {
    const testAllocator = new TestAllocator().withSite([fourAddresses]).withCluster('a');
    const held = testAllocator.take('a', '1');
    const elsewhere = held === '192.0.2.0' ? '192.0.2.1' : '192.0.2.0';
    const pool = poolSpecSchema.parse({ name: 'p', addresses: [elsewhere] });
    testAllocator.run(setPool({ site: 's', pool }));
    expect(testAllocator.take('a', '1')).toBe(held);
    expect(testAllocator.take('a', '2')).toBe(elsewhere);
    testAllocator.free('a', '1');
    expect(() => testAllocator.take('a', '3')).toThrow(refusal('pool-exhausted'));
  });

  test('gets no address that was held outside of a pool before the pool grew', () => {
    const testAllocator = new TestAllocator().withSite([fourAddresses]).withCluster('a');
    const held = ['1', '2', '3', '4'].map((uid) => testAllocator.take('a', uid));
    const set = (addresses: string[]) =>
      testAllocator.run(
        setPool({ site: 's', pool: poolSpecSchema.parse({ name: 'p', addresses }) }),
      );
    set(['192.0.2.9']);
    set(['192.0.2.0-192.0.2.9']);
    expect(held).not.toContain(testAllocator.take('a', '5'));
  });

  test('is refused by a moved ledger', () => {
    const testAllocator = new TestAllocator().withSite([fourAddresses]).withCluster('a');
    testAllocator.run(suspendSite({ site: 's', as: 'moved' }));
    expect(() => testAllocator.take('a', '1')).toThrow(refusal('moved'));
  });
});

describe('sharing an address', () => {
  const shared = (ports: string[]) => ({ sharingKey: 'k', ports });

  test('requires the same key, the same cluster and different ports', () => {
    const testAllocator = new TestAllocator()
      .withSite([fourAddresses])
      .withCluster('a')
      .withCluster('b');
    const first = testAllocator.take('a', '1', shared(['TCP/80']));
    expect(testAllocator.take('a', '2', shared(['TCP/443']))).toBe(first);
    expect(testAllocator.take('a', '3', shared(['TCP/80']))).not.toBe(first);
    expect(testAllocator.take('b', '4', shared(['TCP/22']))).not.toBe(first);
    expect(testAllocator.take('a', '5')).not.toBe(first);
  });

  test('counts once against the quota, and ends with the last owner', () => {
    const testAllocator = new TestAllocator()
      .withSite([fourAddresses], { quarantineMs: 9 })
      .withCluster('a', { quota: 1 });
    const address = testAllocator.take('a', '1', shared(['TCP/80']));
    testAllocator.take('a', '2', shared(['TCP/443']));
    testAllocator.free('a', '1');
    expect(testAllocator.view.site('s')?.addresses.get(parseAddress(address))?.record.state).toBe(
      'held',
    );
    testAllocator.free('a', '2');
    expect(testAllocator.view.site('s')?.addresses.get(parseAddress(address))?.record.state).toBe(
      'resting',
    );
  });
});
