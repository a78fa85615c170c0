import { describe, expect, test } from 'vitest';
import { authorise } from './credential.ts';
import { reclaimCluster, removeCluster } from './cluster-decisions.ts';
import { put } from './decision.ts';
import { TestAllocator, refusal } from './test-allocator.testing.ts';
import { reclaimable, reclaimExpired, sweep, sweepCredentials } from './maintenance-decisions.ts';
import { keys } from './keys.ts';

const pool = (last: number) => ({ name: 'p', addresses: [`10.0.0.0-10.0.0.${last}`] });
const controlPlane = { families: [4] as const, addresses: [] };

const beat = (testAllocator: TestAllocator, cluster: string, withdrawsAfterMs?: number) => {
  const id = testAllocator.view.site('s')?.clusters.get(cluster)?.record.id ?? '';
  testAllocator.run(() => ({
    kind: 'change',
    reads: [],
    writes: [put(keys.beat('s', cluster), { id, at: testAllocator.now, withdrawsAfterMs })],
    audit: { action: 'beat' },
    answer: undefined,
  }));
};

describe('creating a cluster', () => {
  test('assigns a control plane address, from a dedicated pool if there is one', () => {
    const own = { name: 'own', addresses: ['192.0.2.9'], purposes: ['control-plane' as const] };
    const testAllocator = new TestAllocator().withSite([pool(3), own]);
    const { controlPlane: first } = testAllocator.createCluster('a', { controlPlane });
    expect(first?.addresses).toMatchObject([{ address: '192.0.2.9', pool: 'own' }]);
    const { controlPlane: second } = testAllocator.createCluster('b', { controlPlane });
    expect(second?.addresses).toMatchObject([{ pool: 'p' }]);
  });

  test('returns the same address on repetition, and a new credential in place of the unused one', () => {
    const testAllocator = new TestAllocator().withSite([pool(3)]);
    const one = testAllocator.createCluster('a', {
      controlPlane,
      credential: { id: 'c1', hash: 'aa' },
    });
    const two = testAllocator.createCluster('a', {
      controlPlane,
      credential: { id: 'c2', hash: 'bb' },
    });
    expect(two.controlPlane).toEqual(one.controlPlane);
    expect(testAllocator.view.credential('c1')).toBeUndefined();
    expect(testAllocator.view.credential('c2')?.record).toMatchObject({
      first: 'unused',
      cluster: 'a',
    });
  });

  test('leaves nothing behind if no address is left', () => {
    const testAllocator = new TestAllocator()
      .withSite([pool(0)])
      .withCluster('a', { controlPlane });
    expect(() => testAllocator.createCluster('b', { controlPlane })).toThrow(
      refusal('pool-exhausted'),
    );
    expect(testAllocator.view.site('s')?.clusters.has('b')).toBe(false);
  });
});

describe('removing a cluster', () => {
  test('frees all its addresses with one tombstone, before any sweep', () => {
    const testAllocator = new TestAllocator().withSite([pool(199)], { quarantineMs: 50 });
    testAllocator.withCluster('a').withCluster('b');
    for (let index = 0; index < 200; index += 1) testAllocator.take('a', `u${index}`);
    const { addresses } = testAllocator.run(
      removeCluster({ site: 's', cluster: 'a', withdrawn: true }),
    );
    expect(addresses).toHaveLength(200);
    expect(() => testAllocator.take('b', 'x')).toThrow(refusal('pool-exhausted'));
    testAllocator.now += 50;
    const got = new Set<string>();
    for (let index = 0; index < 200; index += 1) got.add(testAllocator.take('b', `v${index}`));
    expect(got.size).toBe(200);
  });

  test('is swept in parts, also after interruptions, and then the tombstone is deleted', () => {
    const testAllocator = new TestAllocator()
      .withSite([pool(119)], { quarantineMs: 50 })
      .withCluster('a');
    for (let index = 0; index < 120; index += 1) testAllocator.take('a', `u${index}`);
    testAllocator.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
    const swept = [];
    for (
      let count = testAllocator.run(sweep('s'));
      count > 0;
      count = testAllocator.run(sweep('s'))
    )
      swept.push(count);
    expect(swept).toEqual([50, 50, 20, 1]);
    const site = testAllocator.view.site('s');
    expect(site?.tombstones.size).toBe(0);
    expect(
      new Set([...(site?.addresses.values() ?? [])].map(({ record }) => record.state)),
    ).toEqual(new Set(['resting']));
    testAllocator.now += 50;
    while (testAllocator.run(sweep('s')) > 0) continue;
    expect(site?.addresses.size).toBe(0);
  });

  test('invalidates its credentials at once; a new cluster of that name is a different one', () => {
    const testAllocator = new TestAllocator().withSite([pool(3)]);
    testAllocator.withCluster('a', { credential: { id: 'old', hash: 'aa' } });
    const needs = { kind: 'cluster', site: 's', cluster: 'a' } as const;
    const caller = { id: 'old', hash: 'aa' };
    expect(authorise(testAllocator.view, caller, needs, testAllocator.now).actor).toContain('s/a');
    testAllocator.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
    expect(() => authorise(testAllocator.view, caller, needs, testAllocator.now)).toThrow(
      'unknown, revoked',
    );
    testAllocator.withCluster('a');
    expect(() => authorise(testAllocator.view, caller, needs, testAllocator.now)).toThrow(
      'unknown, revoked',
    );
    expect(testAllocator.run(sweepCredentials())).toBe(1);
  });

  test('does not return its addresses when the cluster is recreated before the sweep', () => {
    const testAllocator = new TestAllocator()
      .withSite([pool(1)], { quarantineMs: 50 })
      .withCluster('a');
    testAllocator.take('a', 'u');
    testAllocator.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
    testAllocator.withCluster('a');
    testAllocator.take('a', 'u');
    expect(() => testAllocator.take('a', 'v')).toThrow(refusal('pool-exhausted'));
    expect(testAllocator.view.site('s')?.addresses.size).toBe(2);
  });
});

test('a late release for a removed cluster does not affect its successor', () => {
  const testAllocator = new TestAllocator().withSite([pool(3)]).withCluster('a');
  testAllocator.take('a', 'u');
  const late = testAllocator.fencingTokenOf('a', 'u');
  testAllocator.free('a', 'u', { fencingToken: late });
  testAllocator.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
  testAllocator.withCluster('a').take('a', 'u');
  expect(() => testAllocator.free('a', 'u', { fencingToken: late })).toThrow(
    refusal('stale-fencing-token'),
  );
});

describe('a cluster without heartbeats', () => {
  const selfWithdrawal = { afterMs: 10_000, graceMs: 5_000 };

  test('keeps its addresses unless it promised to withdraw', () => {
    const testAllocator = new TestAllocator().withSite([pool(3)]).withCluster('a');
    testAllocator.take('a', 'u');
    beat(testAllocator, 'a');
    testAllocator.now += 10 ** 9;
    const site = testAllocator.view.site('s');
    expect(site === undefined ? undefined : reclaimable(site, testAllocator.now, 0)).toEqual([]);
  });

  test('loses its addresses after its promise and the grace time, not before', () => {
    const testAllocator = new TestAllocator()
      .withSite([pool(0)])
      .withCluster('a', { selfWithdrawal })
      .withCluster('b');
    const site = testAllocator.view.site('s');
    if (site === undefined) throw new Error('no site');
    testAllocator.take('a', 'u');
    testAllocator.now += 10 ** 6;
    beat(testAllocator, 'a');
    testAllocator.now += 10 ** 6;
    expect(reclaimable(site, testAllocator.now, 0)).toEqual([]);
    beat(testAllocator, 'a', 10_000);
    const lastBeat = testAllocator.now;
    testAllocator.now += 14_999;
    expect(reclaimable(site, testAllocator.now, 0)).toEqual([]);
    testAllocator.now += 1;
    expect(reclaimable(site, testAllocator.now, 0)).toEqual([{ cluster: 'a', lastBeat }]);
    testAllocator.run(reclaimExpired('s', 'a', lastBeat, testAllocator.newId()));
    expect(reclaimable(site, testAllocator.now, 0)).toEqual([]);
    expect(testAllocator.take('b', 'v')).toBe('10.0.0.0');
  });

  test.each([false, true])(
    'gets its free addresses back when it returns in time, for each Service its own (swept: %s)',
    (isSwept) => {
      const testAllocator = new TestAllocator().withSite([pool(3)], { quarantineMs: 1_000 });
      testAllocator.withCluster('a').withCluster('b');
      const named = (uid: string) => ({ uid, namespace: 'shop', name: uid });
      const had = testAllocator.take('a', 'web', named('web'));
      const other = testAllocator.take('a', 'other', named('other'));
      const request = { site: 's', cluster: 'a', epoch: testAllocator.newId(), withdrawn: true };
      testAllocator.run(reclaimCluster(request));
      if (isSwept) while (testAllocator.run(sweep('s')) > 0) continue;
      const resting = refusal('address-resting');
      const ask = (cluster: string, uid: string, address: string) =>
        testAllocator.reserve(cluster, { ...named(uid), addresses: [address] });
      expect(() => ask('b', 'web', had)).toThrow(resting);
      expect(() => ask('a', 'web', other)).toThrow(resting);
      expect(ask('a', 'web', had)).toMatchObject({ state: 'held' });
      testAllocator.now += 1_000;
      expect(ask('b', 'rival', other)).toMatchObject({ state: 'held' });
      expect(() => ask('a', 'other', other)).toThrow(refusal('address-in-use'));
      expect(() => ask('b', 'rival-too', had)).toThrow(refusal('address-in-use'));
      while (testAllocator.run(sweep('s')) > 0) continue;
      expect(ask('a', 'web', had)).toMatchObject({ state: 'held' });
    },
  );

  test('does not get them back if it was removed and recreated under the same name', () => {
    const testAllocator = new TestAllocator()
      .withSite([pool(3)], { quarantineMs: 1_000 })
      .withCluster('a');
    const service = { namespace: 'shop', name: 'web' };
    const had = testAllocator.take('a', 'web', service);
    testAllocator.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
    testAllocator.withCluster('a');
    expect(() => testAllocator.reserve('a', { uid: 'web', ...service, addresses: [had] })).toThrow(
      refusal('address-resting'),
    );
  });

  test('keeps the address of its control plane, which is not part of the promise', () => {
    const testAllocator = new TestAllocator().withSite([pool(1)]);
    const made = testAllocator.createCluster('a', { controlPlane, selfWithdrawal });
    testAllocator.withCluster('b');
    const site = testAllocator.view.site('s');
    if (site === undefined) throw new Error('no site');
    const lost = testAllocator.take('a', 'u');
    beat(testAllocator, 'a', 10_000);
    const lastBeat = testAllocator.now;
    testAllocator.now += 15_000;
    expect(
      testAllocator.run(reclaimExpired('s', 'a', lastBeat, testAllocator.newId())).addresses,
    ).toEqual([lost]);
    expect(reclaimable(site, testAllocator.now, 0)).toEqual([]);
    while (testAllocator.run(sweep('s')) > 0) continue;
    expect(testAllocator.take('b', 'v')).toBe(lost);
    expect(() => testAllocator.take('b', 'w')).toThrow(refusal('pool-exhausted'));
    expect(testAllocator.createCluster('a', { controlPlane }).controlPlane).toEqual(
      made.controlPlane,
    );
  });

  test('keeps its addresses while no server could receive heartbeats, and while the site is suspended', () => {
    const testAllocator = new TestAllocator()
      .withSite([pool(3)])
      .withCluster('a', { selfWithdrawal });
    const site = testAllocator.view.site('s');
    if (site === undefined) throw new Error('no site');
    testAllocator.take('a', 'u');
    beat(testAllocator, 'a', 10_000);
    const lastBeat = testAllocator.now;
    testAllocator.now += 10 ** 6;
    const servingSince = testAllocator.now;
    expect(reclaimable(site, testAllocator.now, servingSince)).toEqual([]);
    testAllocator.now += 15_000;
    expect(reclaimable(site, testAllocator.now, servingSince)).toEqual([
      { cluster: 'a', lastBeat },
    ]);
    for (const as of ['recovering', 'moved'] as const) {
      const record = { ...site.site?.record, suspended: { as, since: testAllocator.now } };
      testAllocator.run(() => ({
        kind: 'change',
        reads: [],
        writes: [put(keys.site('s'), record)],
        audit: { action: 'suspend' },
        answer: undefined,
      }));
      expect(reclaimable(site, testAllocator.now, servingSince)).toEqual([]);
    }
  });

  test('keeps its addresses after a heartbeat in between', () => {
    const testAllocator = new TestAllocator()
      .withSite([pool(0)])
      .withCluster('a', { selfWithdrawal });
    const address = testAllocator.take('a', 'u');
    beat(testAllocator, 'a');
    const lastBeat = testAllocator.now;
    testAllocator.now += 15_000;
    beat(testAllocator, 'a');
    testAllocator.run(reclaimExpired('s', 'a', lastBeat, testAllocator.newId()));
    expect(testAllocator.take('a', 'u')).toBe(address);
  });

  test('holds nothing but still exists after an operator reclaimed it', () => {
    const testAllocator = new TestAllocator()
      .withSite([pool(3)], { quarantineMs: 5 })
      .withCluster('a');
    const before = testAllocator.take('a', 'u');
    const request = { site: 's', cluster: 'a', epoch: testAllocator.newId(), withdrawn: true };
    expect(testAllocator.run(reclaimCluster(request)).addresses).toEqual([before]);
    expect(testAllocator.take('a', 'u')).not.toBe(before);
  });
});
