import { describe, expect, test } from 'vitest';
import { authorise } from './credential.ts';
import { reclaimCluster, removeCluster } from './cluster-decisions.ts';
import { put } from './decision.ts';
import { Desk, refusal } from './test-allocator.testing.ts';
import { reclaimable, reclaimSilent, sweep, sweepCredentials } from './maintenance-decisions.ts';
import { keys } from './keys.ts';

const pool = (last: number) => ({ name: 'p', addresses: [`10.0.0.0-10.0.0.${last}`] });
const controlPlane = { families: [4] as const, addresses: [] };

const beat = (desk: Desk, cluster: string, withdrawsAfterMs?: number) => {
  const id = desk.view.site('s')?.clusters.get(cluster)?.record.id ?? '';
  desk.run(() => ({
    kind: 'change',
    reads: [],
    writes: [put(keys.beat('s', cluster), { id, at: desk.now, withdrawsAfterMs })],
    audit: { action: 'beat' },
    answer: undefined,
  }));
};

describe('creating a cluster', () => {
  test('gives it a control plane address, from a pool of its own if there is one', () => {
    const own = { name: 'own', addresses: ['192.0.2.9'], purposes: ['control-plane' as const] };
    const desk = new Desk().withSite([pool(3), own]);
    const { controlPlane: first } = desk.createCluster('a', { controlPlane });
    expect(first?.addresses).toMatchObject([{ address: '192.0.2.9', pool: 'own' }]);
    const { controlPlane: second } = desk.createCluster('b', { controlPlane });
    expect(second?.addresses).toMatchObject([{ pool: 'p' }]);
  });

  test('again gives the same address and a new credential in place of the unused one', () => {
    const desk = new Desk().withSite([pool(3)]);
    const one = desk.createCluster('a', { controlPlane, credential: { id: 'c1', hash: 'aa' } });
    const two = desk.createCluster('a', { controlPlane, credential: { id: 'c2', hash: 'bb' } });
    expect(two.controlPlane).toEqual(one.controlPlane);
    expect(desk.view.credential('c1')).toBeUndefined();
    expect(desk.view.credential('c2')?.record).toMatchObject({ first: 'unused', cluster: 'a' });
  });

  test('leaves nothing behind when no address is left', () => {
    const desk = new Desk().withSite([pool(0)]).withCluster('a', { controlPlane });
    expect(() => desk.createCluster('b', { controlPlane })).toThrow(refusal('pool-exhausted'));
    expect(desk.view.site('s')?.clusters.has('b')).toBe(false);
  });
});

describe('removing a cluster', () => {
  test('frees all it held with one tombstone, before anything is swept', () => {
    const desk = new Desk().withSite([pool(199)], { quarantineMs: 50 });
    desk.withCluster('a').withCluster('b');
    for (let index = 0; index < 200; index += 1) desk.take('a', `u${index}`);
    const { addresses } = desk.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
    expect(addresses).toHaveLength(200);
    expect(() => desk.take('b', 'x')).toThrow(refusal('pool-exhausted'));
    desk.now += 50;
    const got = new Set<string>();
    for (let index = 0; index < 200; index += 1) got.add(desk.take('b', `v${index}`));
    expect(got.size).toBe(200);
  });

  test('is swept in parts, wherever it is cut off, and then the tombstone goes', () => {
    const desk = new Desk().withSite([pool(119)], { quarantineMs: 50 }).withCluster('a');
    for (let index = 0; index < 120; index += 1) desk.take('a', `u${index}`);
    desk.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
    const swept = [];
    for (let count = desk.run(sweep('s')); count > 0; count = desk.run(sweep('s')))
      swept.push(count);
    expect(swept).toEqual([50, 50, 20, 1]);
    const site = desk.view.site('s');
    expect(site?.tombstones.size).toBe(0);
    expect(
      new Set([...(site?.addresses.values() ?? [])].map(({ record }) => record.state)),
    ).toEqual(new Set(['resting']));
    desk.now += 50;
    while (desk.run(sweep('s')) > 0) continue;
    expect(site?.addresses.size).toBe(0);
  });

  test('makes its credentials void at once; a new cluster of that name is another one', () => {
    const desk = new Desk().withSite([pool(3)]);
    desk.withCluster('a', { credential: { id: 'old', hash: 'aa' } });
    const needs = { kind: 'cluster', site: 's', cluster: 'a' } as const;
    const caller = { id: 'old', hash: 'aa' };
    expect(authorise(desk.view, caller, needs, desk.now).actor).toContain('s/a');
    desk.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
    expect(() => authorise(desk.view, caller, needs, desk.now)).toThrow('unknown, revoked');
    desk.withCluster('a');
    expect(() => authorise(desk.view, caller, needs, desk.now)).toThrow('unknown, revoked');
    expect(desk.run(sweepCredentials())).toBe(1);
  });

  test('recreated before the sweep, it does not get back what it held', () => {
    const desk = new Desk().withSite([pool(1)], { quarantineMs: 50 }).withCluster('a');
    desk.take('a', 'u');
    desk.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
    desk.withCluster('a');
    desk.take('a', 'u');
    expect(() => desk.take('a', 'v')).toThrow(refusal('pool-exhausted'));
    expect(desk.view.site('s')?.addresses.size).toBe(2);
  });
});

test('a late free meant for a removed cluster does not reach the one after it', () => {
  const desk = new Desk().withSite([pool(3)]).withCluster('a');
  desk.take('a', 'u');
  const late = desk.fenceOf('a', 'u');
  desk.free('a', 'u', { fence: late });
  desk.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
  desk.withCluster('a').take('a', 'u');
  expect(() => desk.free('a', 'u', { fence: late })).toThrow(refusal('stale-fence'));
});

describe('a silent cluster', () => {
  const selfWithdrawal = { afterMs: 10_000, graceMs: 5_000 };

  test('keeps its addresses unless it promised to withdraw', () => {
    const desk = new Desk().withSite([pool(3)]).withCluster('a');
    desk.take('a', 'u');
    beat(desk, 'a');
    desk.now += 10 ** 9;
    const site = desk.view.site('s');
    expect(site === undefined ? undefined : reclaimable(site, desk.now, 0)).toEqual([]);
  });

  test('that promised loses them after the promise and the grace, not before', () => {
    const desk = new Desk()
      .withSite([pool(0)])
      .withCluster('a', { selfWithdrawal })
      .withCluster('b');
    const site = desk.view.site('s');
    if (site === undefined) throw new Error('no site');
    desk.take('a', 'u');
    desk.now += 10 ** 6;
    beat(desk, 'a');
    desk.now += 10 ** 6;
    expect(reclaimable(site, desk.now, 0)).toEqual([]);
    beat(desk, 'a', 10_000);
    const lastBeat = desk.now;
    desk.now += 14_999;
    expect(reclaimable(site, desk.now, 0)).toEqual([]);
    desk.now += 1;
    expect(reclaimable(site, desk.now, 0)).toEqual([{ cluster: 'a', lastBeat }]);
    desk.run(reclaimSilent('s', 'a', lastBeat, desk.newId()));
    expect(reclaimable(site, desk.now, 0)).toEqual([]);
    expect(desk.take('b', 'v')).toBe('10.0.0.0');
  });

  test.each([false, true])(
    'that returns in time has again what nobody has, each Service its own (swept: %s)',
    (isSwept) => {
      const desk = new Desk().withSite([pool(3)], { quarantineMs: 1_000 });
      desk.withCluster('a').withCluster('b');
      const named = (uid: string) => ({ uid, namespace: 'shop', name: uid });
      const had = desk.take('a', 'web', named('web'));
      const other = desk.take('a', 'other', named('other'));
      const request = { site: 's', cluster: 'a', epoch: desk.newId(), withdrawn: true };
      desk.run(reclaimCluster(request));
      if (isSwept) while (desk.run(sweep('s')) > 0) continue;
      const resting = refusal('address-resting');
      const ask = (cluster: string, uid: string, address: string) =>
        desk.reserve(cluster, { ...named(uid), addresses: [address] });
      expect(() => ask('b', 'web', had)).toThrow(resting);
      expect(() => ask('a', 'web', other)).toThrow(resting);
      expect(ask('a', 'web', had)).toMatchObject({ state: 'held' });
      desk.now += 1_000;
      expect(ask('b', 'rival', other)).toMatchObject({ state: 'held' });
      expect(() => ask('a', 'other', other)).toThrow(refusal('address-in-use'));
      expect(() => ask('b', 'rival-too', had)).toThrow(refusal('address-in-use'));
      while (desk.run(sweep('s')) > 0) continue;
      expect(ask('a', 'web', had)).toMatchObject({ state: 'held' });
    },
  );

  test('that was removed is not the one that is made under its name', () => {
    const desk = new Desk().withSite([pool(3)], { quarantineMs: 1_000 }).withCluster('a');
    const service = { namespace: 'shop', name: 'web' };
    const had = desk.take('a', 'web', service);
    desk.run(removeCluster({ site: 's', cluster: 'a', withdrawn: true }));
    desk.withCluster('a');
    expect(() => desk.reserve('a', { uid: 'web', ...service, addresses: [had] })).toThrow(
      refusal('address-resting'),
    );
  });

  test('keeps the address of its control plane, which nobody promised to withdraw', () => {
    const desk = new Desk().withSite([pool(1)]);
    const made = desk.createCluster('a', { controlPlane, selfWithdrawal });
    desk.withCluster('b');
    const site = desk.view.site('s');
    if (site === undefined) throw new Error('no site');
    const lost = desk.take('a', 'u');
    beat(desk, 'a', 10_000);
    const lastBeat = desk.now;
    desk.now += 15_000;
    expect(desk.run(reclaimSilent('s', 'a', lastBeat, desk.newId())).addresses).toEqual([lost]);
    expect(reclaimable(site, desk.now, 0)).toEqual([]);
    while (desk.run(sweep('s')) > 0) continue;
    expect(desk.take('b', 'v')).toBe(lost);
    expect(() => desk.take('b', 'w')).toThrow(refusal('pool-exhausted'));
    expect(desk.createCluster('a', { controlPlane }).controlPlane).toEqual(made.controlPlane);
  });

  test('keeps them while nobody could have heard it, and where the site is suspended', () => {
    const desk = new Desk().withSite([pool(3)]).withCluster('a', { selfWithdrawal });
    const site = desk.view.site('s');
    if (site === undefined) throw new Error('no site');
    desk.take('a', 'u');
    beat(desk, 'a', 10_000);
    const lastBeat = desk.now;
    desk.now += 10 ** 6;
    const servingSince = desk.now;
    expect(reclaimable(site, desk.now, servingSince)).toEqual([]);
    desk.now += 15_000;
    expect(reclaimable(site, desk.now, servingSince)).toEqual([{ cluster: 'a', lastBeat }]);
    for (const as of ['recovering', 'moved'] as const) {
      const record = { ...site.site?.record, suspended: { as, since: desk.now } };
      desk.run(() => ({
        kind: 'change',
        reads: [],
        writes: [put(keys.site('s'), record)],
        audit: { action: 'suspend' },
        answer: undefined,
      }));
      expect(reclaimable(site, desk.now, servingSince)).toEqual([]);
    }
  });

  test('that was heard of in between keeps them', () => {
    const desk = new Desk().withSite([pool(0)]).withCluster('a', { selfWithdrawal });
    const address = desk.take('a', 'u');
    beat(desk, 'a');
    const lastBeat = desk.now;
    desk.now += 15_000;
    beat(desk, 'a');
    desk.run(reclaimSilent('s', 'a', lastBeat, desk.newId()));
    expect(desk.take('a', 'u')).toBe(address);
  });

  test('reclaimed by an operator, holds nothing but is still there', () => {
    const desk = new Desk().withSite([pool(3)], { quarantineMs: 5 }).withCluster('a');
    const before = desk.take('a', 'u');
    const request = { site: 's', cluster: 'a', epoch: desk.newId(), withdrawn: true };
    expect(desk.run(reclaimCluster(request)).addresses).toEqual([before]);
    expect(desk.take('a', 'u')).not.toBe(before);
  });
});
