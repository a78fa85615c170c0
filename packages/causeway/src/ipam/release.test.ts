import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { Desk, refusal } from './test-allocator.testing.ts';
import { sweep } from './maintenance-decisions.ts';
import { free } from './release.ts';

const one = { name: 'p', addresses: ['192.0.2.1'] };
const service = { namespace: 'shop', name: 'web' };

describe('a free', () => {
  test('of what is not there succeeds', () => {
    const desk = new Desk().withSite([one]).withCluster('a');
    expect(desk.free('a', 'nobody')).toEqual([]);
    expect(desk.free('no-cluster', 'nobody')).toEqual([]);
  });

  test('with the fence of an earlier reservation changes nothing', () => {
    const desk = new Desk().withSite([one]).withCluster('a');
    desk.take('a', 'u');
    const late = desk.fenceOf('a', 'u');
    desk.free('a', 'u', { fence: late });
    desk.take('a', 'u');
    expect(() => desk.free('a', 'u', { fence: late })).toThrow(refusal('stale-fence'));
    expect(desk.free('a', 'u', { fence: desk.fenceOf('a', 'u') })).toEqual(['192.0.2.1']);
  });

  test('of the control plane’s address is an operator’s matter', () => {
    const desk = new Desk().withSite([one]).withCluster('a', {
      controlPlane: { families: [4], addresses: [] },
    });
    const epoch = desk.view.site('s')?.clusters.get('a')?.record.epoch ?? '';
    const [held] = desk.view.site('s')?.heldBy(epoch).values() ?? [];
    const { uid = '', fence = 0 } = held?.record.owners[0] ?? {};
    const decide = free({ site: 's', cluster: 'a', uid, fence, withdrawn: true });
    const credential = {
      id: 'c',
      hash: 'aa',
      role: 'cluster',
      kind: 'token',
      createdAt: 0,
    } as const;
    expect(decide(desk.view, desk, { ...desk.grant, credential })).toMatchObject({
      kind: 'refuse',
      error: { code: 'forbidden' },
    });
    expect(desk.free('a', uid, { fence })).toEqual(['192.0.2.1']);
  });

  test('lets the address rest before others get it', () => {
    const desk = new Desk().withSite([one], { quarantineMs: 100, unconfirmedQuarantineMs: 5_000 });
    desk.withCluster('a').withCluster('b');
    desk.take('a', '1');
    desk.free('a', '1', { withdrawn: true });
    desk.now += 99;
    expect(() => desk.take('b', '2')).toThrow(refusal('pool-exhausted'));
    desk.now += 1;
    desk.take('b', '2');
    desk.free('b', '2', { withdrawn: false });
    desk.now += 4_999;
    expect(() => desk.take('a', '3')).toThrow(refusal('pool-exhausted'));
    expect(() => desk.reserve('a', { uid: '3', addresses: ['192.0.2.1'] })).toThrow(
      refusal('address-resting'),
    );
    desk.now += 1;
    expect(desk.take('a', '3')).toBe('192.0.2.1');
  });

  test('keeps the address for a Service of the same name', () => {
    const desk = new Desk().withSite([{ name: 'p', addresses: ['192.0.2.1-192.0.2.9'] }], {
      quarantineMs: 10,
      keepMs: 1000,
    });
    desk.withCluster('a').withCluster('b');
    const address = desk.take('a', 'old', service);
    desk.free('a', 'old');
    desk.now += 900;
    for (let uid = 1; uid < 9; uid += 1) desk.take('b', `u${uid}`, service);
    expect(() => desk.take('b', 'u9')).toThrow(refusal('pool-exhausted'));
    expect(() => desk.take('a', 'other', { namespace: 'shop', name: 'api' })).toThrow(
      refusal('pool-exhausted'),
    );
    expect(desk.take('a', 'new', service)).toBe(address);
  });

  test('lets the address go when nobody came back in time', () => {
    const desk = new Desk().withSite([one], { keepMs: 1000 }).withCluster('a').withCluster('b');
    desk.take('a', 'old', service);
    desk.free('a', 'old');
    desk.now += 1000;
    expect(desk.take('b', 'u')).toBe('192.0.2.1');
    expect(() => desk.take('a', 'new', service)).toThrow(refusal('pool-exhausted'));
  });

  test('lets the same cluster have its resting address by name', () => {
    const desk = new Desk()
      .withSite([one], { quarantineMs: 100 })
      .withCluster('a')
      .withCluster('b');
    desk.take('a', '1');
    desk.free('a', '1');
    const named = { uid: '2', addresses: ['192.0.2.1'] };
    expect(() => desk.reserve('b', named)).toThrow(refusal('address-resting'));
    expect(desk.reserve('a', named)).toMatchObject({ state: 'held' });
  });
});

test('a sweep forgets rests that are over, and nothing else', () => {
  const desk = new Desk().withSite([{ name: 'p', addresses: ['192.0.2.0/28'] }], {
    quarantineMs: 100,
  });
  desk.withCluster('a');
  const [freed, held] = [desk.take('a', '1'), desk.take('a', '2')];
  desk.free('a', '1');
  expect(desk.run(sweep('s'))).toBe(0);
  desk.now += 100;
  expect(desk.run(sweep('s'))).toBe(1);
  const addresses = desk.view.site('s')?.addresses;
  expect(addresses?.has(parseAddress(freed))).toBe(false);
  expect(addresses?.has(parseAddress(held))).toBe(true);
});
