import { describe, expect, test } from 'vitest';
import { removeCluster } from './cluster-decisions.ts';
import { demandOf, Desk, refusal } from './test-allocator.testing.ts';
import { serveQueue, sweep } from './maintenance-decisions.ts';
import { keys } from './keys.ts';
import { placeKeptMs } from './queue.ts';
import { reserve } from './reserve.ts';

const two = { name: 'p', addresses: ['192.0.2.1-192.0.2.2'] };
const later = 2_000_000;

/** Two addresses held by `a`, resting for 100 once freed. */
const fullDesk = () => {
  const desk = new Desk().withSite([two], { quarantineMs: 100 });
  desk.withCluster('a').withCluster('b').withCluster('c');
  desk.take('a', '1');
  desk.take('a', '2');
  return desk;
};
const held = (desk: Desk, cluster: string, uid: string) => {
  const epoch = desk.view.site('s')?.clusters.get(cluster)?.record.epoch ?? '';
  return desk.view.site('s')?.ownedBy(epoch, uid).length;
};

describe('the queue', () => {
  test('is served in order as addresses leave quarantine', () => {
    const desk = fullDesk();
    expect(desk.reserve('b', { uid: 'x' }, later)).toEqual({ state: 'waiting', position: 1 });
    expect(desk.reserve('c', { uid: 'y' }, later)).toEqual({ state: 'waiting', position: 2 });
    expect(desk.reserve('b', { uid: 'x' }, later)).toEqual({ state: 'waiting', position: 1 });
    desk.free('a', '1');
    expect(desk.run(serveQueue('s'))).toBeUndefined();
    desk.now += 100;
    expect(desk.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'x' } });
    expect(desk.run(serveQueue('s'))).toBeUndefined();
    desk.free('a', '2');
    desk.now += 100;
    expect(desk.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'y' } });
    expect(desk.view.site('s')?.waiters.size).toBe(0);
  });

  test('is not overtaken by who comes later', () => {
    const desk = fullDesk();
    desk.reserve('b', { uid: 'x' }, later);
    desk.free('a', '1');
    desk.now += 100;
    expect(() => desk.take('c', 'late')).toThrow(refusal('pool-exhausted'));
    desk.free('a', '2');
    desk.now += 100;
    // One of the two is due to x; the other is free to anybody.
    desk.take('c', 'late');
    expect(desk.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'x' } });
  });

  test('forgets who gave up, was removed or let the time pass', () => {
    const desk = fullDesk();
    desk.reserve('b', { uid: 'gave-up' }, later);
    desk.reserve('c', { uid: 'removed' }, later);
    desk.reserve('b', { uid: 'lapsed' }, desk.now + 50);
    desk.reserve('b', { uid: 'stays' }, later);
    desk.free('b', 'gave-up');
    desk.run(removeCluster({ site: 's', cluster: 'c', withdrawn: true }));
    desk.free('a', '1');
    desk.now += 100;
    expect(desk.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'stays' } });
    while (desk.run(sweep('s')) > 0) continue;
    expect(desk.view.site('s')?.waiters.size).toBe(0);
  });

  test('a waiter whose time passed goes to the end when it comes back', () => {
    const desk = fullDesk();
    desk.reserve('b', { uid: 'x' }, desk.now + 50);
    desk.reserve('c', { uid: 'y' }, later);
    desk.now += 60;
    expect(desk.reserve('b', { uid: 'x' }, later)).toEqual({ state: 'waiting', position: 2 });
  });

  test('asking again changes nothing until half of the place is over, and is no news then', () => {
    const desk = fullDesk();
    const ask = (more: object = {}) => {
      const request = { site: 's', cluster: 'b', demand: demandOf({ uid: 'x', ...more }) };
      const decide = reserve({ ...request, waitUntil: desk.now + placeKeptMs });
      const decision = decide(desk.view, desk, desk.grant);
      desk.run(() => decision);
      if (decision.kind !== 'change') return decision.kind;
      return decision.audit?.action ?? 'no news';
    };
    expect(ask()).toBe('wait');
    desk.now += placeKeptMs / 2;
    expect(ask()).toBe('answer');
    desk.now += 1;
    expect(ask()).toBe('no news');
    desk.now += placeKeptMs / 2;
    expect(ask()).toBe('answer');
    expect(ask({ families: [6] })).toBe('wait');
    desk.now += placeKeptMs / 2 + 1;
    expect(ask({ families: [6] })).toBe('no news');
  });

  test('a waiter for another pool or family does not hold others up', () => {
    const desk = fullDesk();
    desk.withSite([{ name: 'six', addresses: ['2001:db8::1'] }], { quarantineMs: 100 });
    desk.reserve('b', { uid: 'x' }, later);
    expect(desk.take('c', 'six', { families: [6] })).toBe('2001:db8::1');
    desk.reserve('c', { uid: 'six-too', families: [6] }, later);
    desk.free('c', 'six');
    desk.now += 100;
    expect(desk.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'six-too' } });
    expect(held(desk, 'b', 'x')).toBe(0);
  });

  test('a waiter for one pool does not keep others from another pool, nor takes a place there', () => {
    const desk = fullDesk();
    desk.withSite([{ name: 'q', addresses: ['192.0.2.101-192.0.2.102'], priority: -1 }]);
    desk.reserve('b', { uid: 'x', pool: 'p' }, later);
    desk.reserve('b', { uid: 'y', pool: 'p' }, later);
    // Nobody ahead may have those of q.
    const got = [desk.take('c', 'one'), desk.take('c', 'two')];
    expect(got.toSorted()).toEqual(['192.0.2.101', '192.0.2.102']);
    expect(() => desk.take('c', 'three')).toThrow(refusal('pool-exhausted'));
  });

  test('who waits for either pool is served by the better one, and leaves the other to others', () => {
    const desk = fullDesk();
    desk.withSite([{ name: 'q', addresses: ['192.0.2.101'], priority: -1 }], { quarantineMs: 100 });
    desk.take('a', '3');
    desk.reserve('b', { uid: 'either' }, later);
    desk.reserve('b', { uid: 'only-p', pool: 'p' }, later);
    for (const uid of ['1', '3']) desk.free('a', uid);
    desk.now += 100;
    // One of each pool: that of p is due to the first, nothing to the second, that of q to nobody.
    expect(desk.take('c', 'late')).toBe('192.0.2.101');
    expect(desk.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'either' } });
    expect(desk.run(serveQueue('s'))).toBeUndefined();
  });

  test('a waiter for both families takes neither where it can’t have both', () => {
    const desk = fullDesk();
    desk.withSite([{ name: 'six', addresses: ['2001:db8::1'] }], { quarantineMs: 100 });
    desk.reserve('b', { uid: 'both', families: [4, 6] }, later);
    expect(desk.take('c', 'six', { families: [6] })).toBe('2001:db8::1');
  });

  test('those who pass a queue come one after the other, so that none takes what is due to it', () => {
    const desk = new Desk().withSite([two]).withCluster('a').withCluster('b').withCluster('c');
    const [first, second] = [desk.take('a', '1'), desk.take('a', '2')];
    expect(first).not.toBe(second);
    desk.reserve('b', { uid: 'x' }, later);
    for (const uid of ['1', '2']) desk.free('a', uid);
    const decide = reserve({ site: 's', cluster: 'c', demand: demandOf({ uid: 'late' }) });
    const decision = decide(desk.view, desk, desk.grant);
    if (decision.kind !== 'change') throw new Error(decision.kind);
    expect(decision.writes.map(({ key }) => key)).toContain(keys.queue('s'));
    desk.busy.add(keys.queue('s'));
    expect(() => desk.take('a', 'late-too')).toThrow('busy');
  });

  test('a named address is not waited for', () => {
    const desk = fullDesk();
    expect(() => desk.reserve('b', { uid: 'x', addresses: ['192.0.2.1'] }, later)).toThrow(
      refusal('address-in-use'),
    );
  });

  test('who is over quota may not wait', () => {
    const desk = fullDesk();
    desk.withCluster('d', { quota: 0 });
    expect(() => desk.reserve('d', { uid: 'x' }, later)).toThrow(refusal('quota'));
  });
});
