import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { TestAllocator, refusal } from './test-allocator.testing.ts';
import { sweep } from './maintenance-decisions.ts';
import { free } from './release.ts';

const one = { name: 'p', addresses: ['192.0.2.1'] };
const service = { namespace: 'shop', name: 'web' };

describe('a release', () => {
  test('of an owner without addresses succeeds', () => {
    const testAllocator = new TestAllocator().withSite([one]).withCluster('a');
    expect(testAllocator.free('a', 'nobody')).toEqual([]);
    expect(testAllocator.free('no-cluster', 'nobody')).toEqual([]);
  });

  test('with the fencing token of an earlier reservation changes nothing', () => {
    const testAllocator = new TestAllocator().withSite([one]).withCluster('a');
    testAllocator.take('a', 'u');
    const late = testAllocator.fencingTokenOf('a', 'u');
    testAllocator.free('a', 'u', { fencingToken: late });
    testAllocator.take('a', 'u');
    expect(() => testAllocator.free('a', 'u', { fencingToken: late })).toThrow(
      refusal('stale-fencing-token'),
    );
    expect(
      testAllocator.free('a', 'u', { fencingToken: testAllocator.fencingTokenOf('a', 'u') }),
    ).toEqual(['192.0.2.1']);
  });

  test('of the control plane’s address requires an operator', () => {
    const testAllocator = new TestAllocator().withSite([one]).withCluster('a', {
      controlPlane: { families: [4], addresses: [] },
    });
    const epoch = testAllocator.view.site('s')?.clusters.get('a')?.record.epoch ?? '';
    const [held] = testAllocator.view.site('s')?.heldBy(epoch).values() ?? [];
    const { uid = '', fencingToken = 0 } = held?.record.owners[0] ?? {};
    const decide = free({ site: 's', cluster: 'a', uid, fencingToken, withdrawn: true });
    const credential = {
      id: 'c',
      hash: 'aa',
      role: 'cluster',
      kind: 'token',
      createdAt: 0,
    } as const;
    expect(
      decide(testAllocator.view, testAllocator, { ...testAllocator.grant, credential }),
    ).toMatchObject({
      kind: 'refuse',
      error: { code: 'forbidden' },
    });
    expect(testAllocator.free('a', uid, { fencingToken })).toEqual(['192.0.2.1']);
  });

  test('puts the address into quarantine before others get it', () => {
    const testAllocator = new TestAllocator().withSite([one], {
      quarantineMs: 100,
      unconfirmedQuarantineMs: 5_000,
    });
    testAllocator.withCluster('a').withCluster('b');
    testAllocator.take('a', '1');
    testAllocator.free('a', '1', { withdrawn: true });
    testAllocator.now += 99;
    expect(() => testAllocator.take('b', '2')).toThrow(refusal('pool-exhausted'));
    testAllocator.now += 1;
    testAllocator.take('b', '2');
    testAllocator.free('b', '2', { withdrawn: false });
    testAllocator.now += 4_999;
    expect(() => testAllocator.take('a', '3')).toThrow(refusal('pool-exhausted'));
    expect(() => testAllocator.reserve('a', { uid: '3', addresses: ['192.0.2.1'] })).toThrow(
      refusal('address-resting'),
    );
    testAllocator.now += 1;
    expect(testAllocator.take('a', '3')).toBe('192.0.2.1');
  });

  test('keeps the address for a Service of the same name', () => {
    const testAllocator = new TestAllocator().withSite(
      [{ name: 'p', addresses: ['192.0.2.1-192.0.2.9'] }],
      {
        quarantineMs: 10,
        keepMs: 1000,
      },
    );
    testAllocator.withCluster('a').withCluster('b');
    const address = testAllocator.take('a', 'old', service);
    testAllocator.free('a', 'old');
    testAllocator.now += 900;
    for (let uid = 1; uid < 9; uid += 1) testAllocator.take('b', `u${uid}`, service);
    expect(() => testAllocator.take('b', 'u9')).toThrow(refusal('pool-exhausted'));
    expect(() => testAllocator.take('a', 'other', { namespace: 'shop', name: 'api' })).toThrow(
      refusal('pool-exhausted'),
    );
    expect(testAllocator.take('a', 'new', service)).toBe(address);
  });

  test('makes the address available after the kept time is over', () => {
    const testAllocator = new TestAllocator()
      .withSite([one], { keepMs: 1000 })
      .withCluster('a')
      .withCluster('b');
    testAllocator.take('a', 'old', service);
    testAllocator.free('a', 'old');
    testAllocator.now += 1000;
    expect(testAllocator.take('b', 'u')).toBe('192.0.2.1');
    expect(() => testAllocator.take('a', 'new', service)).toThrow(refusal('pool-exhausted'));
  });

  test('lets the same cluster get its quarantined address by name', () => {
    const testAllocator = new TestAllocator()
      .withSite([one], { quarantineMs: 100 })
      .withCluster('a')
      .withCluster('b');
    testAllocator.take('a', '1');
    testAllocator.free('a', '1');
    const named = { uid: '2', addresses: ['192.0.2.1'] };
    expect(() => testAllocator.reserve('b', named)).toThrow(refusal('address-resting'));
    expect(testAllocator.reserve('a', named)).toMatchObject({ state: 'held' });
  });
});

test('a sweep removes expired quarantines, and nothing else', () => {
  const testAllocator = new TestAllocator().withSite([{ name: 'p', addresses: ['192.0.2.0/28'] }], {
    quarantineMs: 100,
  });
  testAllocator.withCluster('a');
  const [freed, held] = [testAllocator.take('a', '1'), testAllocator.take('a', '2')];
  testAllocator.free('a', '1');
  expect(testAllocator.run(sweep('s'))).toBe(0);
  testAllocator.now += 100;
  expect(testAllocator.run(sweep('s'))).toBe(1);
  const addresses = testAllocator.view.site('s')?.addresses;
  expect(addresses?.has(parseAddress(freed))).toBe(false);
  expect(addresses?.has(parseAddress(held))).toBe(true);
});
