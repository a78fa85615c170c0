import { describe, expect, test } from 'vitest';
import { removeCluster } from './cluster-decisions.ts';
import { demandOf, TestAllocator, refusal } from './test-allocator.testing.ts';
import { serveQueue, sweep } from './maintenance-decisions.ts';
import { keys } from './keys.ts';
import { placeKeptMs } from './queue.ts';
import { reserve } from './reserve.ts';

const two = { name: 'p', addresses: ['192.0.2.1-192.0.2.2'] };
const later = 2_000_000;

/** Two addresses held by `a`, in quarantine for 100 once freed. */
const fullAllocator = () => {
  const testAllocator = new TestAllocator().withSite([two], { quarantineMs: 100 });
  testAllocator.withCluster('a').withCluster('b').withCluster('c');
  testAllocator.take('a', '1');
  testAllocator.take('a', '2');
  return testAllocator;
};
const held = (testAllocator: TestAllocator, cluster: string, uid: string) => {
  const epoch = testAllocator.view.site('s')?.clusters.get(cluster)?.record.epoch ?? '';
  return testAllocator.view.site('s')?.ownedBy(epoch, uid).length;
};

describe('the queue', () => {
  test('is served in order as addresses leave quarantine', () => {
    const testAllocator = fullAllocator();
    expect(testAllocator.reserve('b', { uid: 'x' }, later)).toEqual({
      state: 'waiting',
      position: 1,
    });
    expect(testAllocator.reserve('c', { uid: 'y' }, later)).toEqual({
      state: 'waiting',
      position: 2,
    });
    expect(testAllocator.reserve('b', { uid: 'x' }, later)).toEqual({
      state: 'waiting',
      position: 1,
    });
    testAllocator.free('a', '1');
    expect(testAllocator.run(serveQueue('s'))).toBeUndefined();
    testAllocator.now += 100;
    expect(testAllocator.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'x' } });
    expect(testAllocator.run(serveQueue('s'))).toBeUndefined();
    testAllocator.free('a', '2');
    testAllocator.now += 100;
    expect(testAllocator.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'y' } });
    expect(testAllocator.view.site('s')?.waiters.size).toBe(0);
  });

  test('is not overtaken by later requests', () => {
    const testAllocator = fullAllocator();
    testAllocator.reserve('b', { uid: 'x' }, later);
    testAllocator.free('a', '1');
    testAllocator.now += 100;
    expect(() => testAllocator.take('c', 'late')).toThrow(refusal('pool-exhausted'));
    testAllocator.free('a', '2');
    testAllocator.now += 100;
    // One of the two is reserved for x; the other is free for any request.
    testAllocator.take('c', 'late');
    expect(testAllocator.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'x' } });
  });

  test('drops waiters that gave up, were removed or exceeded their time', () => {
    const testAllocator = fullAllocator();
    testAllocator.reserve('b', { uid: 'gave-up' }, later);
    testAllocator.reserve('c', { uid: 'removed' }, later);
    testAllocator.reserve('b', { uid: 'lapsed' }, testAllocator.now + 50);
    testAllocator.reserve('b', { uid: 'stays' }, later);
    testAllocator.free('b', 'gave-up');
    testAllocator.run(removeCluster({ site: 's', cluster: 'c', withdrawn: true }));
    testAllocator.free('a', '1');
    testAllocator.now += 100;
    expect(testAllocator.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'stays' } });
    while (testAllocator.run(sweep('s')) > 0) continue;
    expect(testAllocator.view.site('s')?.waiters.size).toBe(0);
  });

  test('puts a waiter that exceeded its time at the end when it returns', () => {
    const testAllocator = fullAllocator();
    testAllocator.reserve('b', { uid: 'x' }, testAllocator.now + 50);
    testAllocator.reserve('c', { uid: 'y' }, later);
    testAllocator.now += 60;
    expect(testAllocator.reserve('b', { uid: 'x' }, later)).toEqual({
      state: 'waiting',
      position: 2,
    });
  });

  test('changes nothing on repetition until half of the time is over, and then records no audit entry', () => {
    const testAllocator = fullAllocator();
    const ask = (more: object = {}) => {
      const request = { site: 's', cluster: 'b', demand: demandOf({ uid: 'x', ...more }) };
      const decide = reserve({ ...request, waitUntil: testAllocator.now + placeKeptMs });
      const decision = decide(testAllocator.view, testAllocator, testAllocator.grant);
      testAllocator.run(() => decision);
      if (decision.kind !== 'change') return decision.kind;
      return decision.audit?.action ?? 'no audit record';
    };
    expect(ask()).toBe('wait');
    testAllocator.now += placeKeptMs / 2;
    expect(ask()).toBe('answer');
    testAllocator.now += 1;
    expect(ask()).toBe('no audit record');
    testAllocator.now += placeKeptMs / 2;
    expect(ask()).toBe('answer');
    expect(ask({ families: [6] })).toBe('wait');
    testAllocator.now += placeKeptMs / 2 + 1;
    expect(ask({ families: [6] })).toBe('no audit record');
  });

  test('serves others while a waiter needs another pool or family', () => {
    const testAllocator = fullAllocator();
    testAllocator.withSite([{ name: 'six', addresses: ['2001:db8::1'] }], { quarantineMs: 100 });
    testAllocator.reserve('b', { uid: 'x' }, later);
    expect(testAllocator.take('c', 'six', { families: [6] })).toBe('2001:db8::1');
    testAllocator.reserve('c', { uid: 'six-too', families: [6] }, later);
    testAllocator.free('c', 'six');
    testAllocator.now += 100;
    expect(testAllocator.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'six-too' } });
    expect(held(testAllocator, 'b', 'x')).toBe(0);
  });

  test('lets others use another pool, in which a waiter for one pool takes no place', () => {
    const testAllocator = fullAllocator();
    testAllocator.withSite([{ name: 'q', addresses: ['192.0.2.101-192.0.2.102'], priority: -1 }]);
    testAllocator.reserve('b', { uid: 'x', pool: 'p' }, later);
    testAllocator.reserve('b', { uid: 'y', pool: 'p' }, later);
    // No earlier waiter can use the addresses of q.
    const got = [testAllocator.take('c', 'one'), testAllocator.take('c', 'two')];
    expect(got.toSorted()).toEqual(['192.0.2.101', '192.0.2.102']);
    expect(() => testAllocator.take('c', 'three')).toThrow(refusal('pool-exhausted'));
  });

  test('serves a waiter for either pool from the better one, and leaves the other pool to others', () => {
    const testAllocator = fullAllocator();
    testAllocator.withSite([{ name: 'q', addresses: ['192.0.2.101'], priority: -1 }], {
      quarantineMs: 100,
    });
    testAllocator.take('a', '3');
    testAllocator.reserve('b', { uid: 'either' }, later);
    testAllocator.reserve('b', { uid: 'only-p', pool: 'p' }, later);
    for (const uid of ['1', '3']) testAllocator.free('a', uid);
    testAllocator.now += 100;
    // One address of each pool is free. The first waiter gets the one of p, the second gets none, and the one
    // of q is left.
    expect(testAllocator.take('c', 'late')).toBe('192.0.2.101');
    expect(testAllocator.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'either' } });
    expect(testAllocator.run(serveQueue('s'))).toBeUndefined();
  });

  test('gives a waiter for both families neither if it can’t have both', () => {
    const testAllocator = fullAllocator();
    testAllocator.withSite([{ name: 'six', addresses: ['2001:db8::1'] }], { quarantineMs: 100 });
    testAllocator.reserve('b', { uid: 'both', families: [4, 6] }, later);
    expect(testAllocator.take('c', 'six', { families: [6] })).toBe('2001:db8::1');
  });

  test('serializes requests that pass a queue, so that none takes an address reserved for a waiter', () => {
    const testAllocator = new TestAllocator()
      .withSite([two])
      .withCluster('a')
      .withCluster('b')
      .withCluster('c');
    const [first, second] = [testAllocator.take('a', '1'), testAllocator.take('a', '2')];
    expect(first).not.toBe(second);
    testAllocator.reserve('b', { uid: 'x' }, later);
    for (const uid of ['1', '2']) testAllocator.free('a', uid);
    const decide = reserve({ site: 's', cluster: 'c', demand: demandOf({ uid: 'late' }) });
    const decision = decide(testAllocator.view, testAllocator, testAllocator.grant);
    if (decision.kind !== 'change') throw new Error(decision.kind);
    expect(decision.writes.map(({ key }) => key)).toContain(keys.queue('s'));
    testAllocator.busy.add(keys.queue('s'));
    expect(() => testAllocator.take('a', 'late-too')).toThrow('busy');
  });

  test('does not wait for a named address', () => {
    const testAllocator = fullAllocator();
    expect(() => testAllocator.reserve('b', { uid: 'x', addresses: ['192.0.2.1'] }, later)).toThrow(
      refusal('address-in-use'),
    );
  });

  test('refuses a place to a cluster over its quota', () => {
    const testAllocator = fullAllocator();
    testAllocator.withCluster('d', { quota: 0 });
    expect(() => testAllocator.reserve('d', { uid: 'x' }, later)).toThrow(refusal('quota'));
  });
});
