import { describe, expect, test } from 'vitest';
import { Desk, refusal } from './test-allocator.testing.ts';
import { keys } from './keys.ts';
import { parseAddress } from '@causeway/base/address/address';
import { drainPool, setPool, suspendSite } from './site-decisions.ts';
import { poolSpecSchema } from './records.ts';

const fourAddresses = { name: 'p', addresses: ['192.0.2.0-192.0.2.3'] };

describe('a reservation', () => {
  test('gives the same owner the same address again', () => {
    const desk = new Desk().withSite([fourAddresses]).withCluster('a');
    const first = desk.reserve('a', { uid: 'u' });
    expect(desk.reserve('a', { uid: 'u' })).toEqual(first);
    expect(first).toMatchObject({ state: 'held', reservation: { fence: desk.now + 1 } });
  });

  test('gives different owners different addresses until none is left', () => {
    const desk = new Desk().withSite([fourAddresses]).withCluster('a').withCluster('b');
    const got = ['1', '2', '3', '4'].map((uid) => desk.take(uid < '3' ? 'a' : 'b', uid));
    expect(new Set(got).size).toBe(4);
    expect(() => desk.take('a', '5')).toThrow(refusal('pool-exhausted'));
    expect(desk.take('a', '1')).toBe(got[0]);
  });

  test('the same UID in two clusters is two owners', () => {
    const desk = new Desk().withSite([fourAddresses]).withCluster('a').withCluster('b');
    expect(desk.take('a', 'u')).not.toBe(desk.take('b', 'u'));
  });

  test('takes both families or none', () => {
    const pools = [fourAddresses, { name: 'six', addresses: ['2001:db8::5'] }];
    const desk = new Desk().withSite(pools).withCluster('a');
    expect(desk.take('a', '1', { families: [4, 6] })).toMatch(/^192\.0\.2\.\d 2001:db8::5$/);
    expect(() => desk.take('a', '2', { families: [4, 6] })).toThrow('no IPv6 address is left');
    expect(desk.view.site('s')?.addresses.size).toBe(2);
  });

  test('adds the family that is missing and keeps the one it has', () => {
    const pools = [fourAddresses, { name: 'six', addresses: ['2001:db8::5'] }];
    const desk = new Desk().withSite(pools).withCluster('a');
    const four = desk.take('a', 'u');
    const fence = desk.fenceOf('a', 'u');
    expect(desk.take('a', 'u', { families: [4, 6] })).toBe(`${four} 2001:db8::5`);
    expect(desk.fenceOf('a', 'u')).toBe(fence);
    expect(desk.free('a', 'u', { fence })).toHaveLength(2);
  });

  test('names an address, and learns why it cannot have it', () => {
    const desk = new Desk().withSite([
      { name: 'p', addresses: ['192.0.2.0/29'], gateways: ['192.0.2.1'] },
    ]);
    desk.withCluster('a').withCluster('b');
    const named = (address: string) => ({ addresses: [address] });
    expect(desk.reserve('a', { uid: '1', ...named('192.0.2.3') })).toMatchObject({
      reservation: { addresses: [{ address: '192.0.2.3' }] },
    });
    for (const never of ['192.0.2.0', '192.0.2.1', '192.0.2.7', '198.51.100.1']) {
      expect(() => desk.reserve('a', { uid: '2', ...named(never) })).toThrow(
        refusal('address-outside'),
      );
    }
    expect(() => desk.reserve('b', { uid: '2', ...named('192.0.2.3') })).toThrow(
      refusal('address-in-use'),
    );
    expect(() => desk.reserve('a', { uid: '1', ...named('192.0.2.4') })).toThrow(
      refusal('other-address'),
    );
    expect(desk.take('a', '1')).toBe('192.0.2.3');
  });

  test('keeps the quota, also against two addresses at once', () => {
    const pools = [fourAddresses, { name: 'six', addresses: ['2001:db8::/120'] }];
    const desk = new Desk().withSite(pools, { defaultQuota: 1 }).withCluster('a', { quota: 3 });
    desk.take('a', '1', { families: [4, 6] });
    expect(() => desk.take('a', '2', { families: [4, 6] })).toThrow(refusal('quota'));
    desk.take('a', '2');
    expect(() => desk.take('a', '3')).toThrow(refusal('quota'));
    expect(desk.take('a', '2')).toBeDefined();
    desk.free('a', '2');
    desk.take('a', '3');
    desk.withCluster('b').take('b', '1');
    expect(() => desk.take('b', '2')).toThrow(refusal('quota'));
  });

  test('waits for transactions under way before it says that nothing is left', () => {
    const desk = new Desk().withSite([{ name: 'p', addresses: ['192.0.2.1'] }]).withCluster('a');
    desk.busy.add(keys.address('s', parseAddress('192.0.2.1')));
    expect(() => desk.take('a', 'u')).toThrow('busy');
  });

  test('takes nothing from a drained pool and leaves what is held there', () => {
    const desk = new Desk().withSite([fourAddresses]).withCluster('a');
    const held = desk.take('a', '1');
    desk.run(drainPool({ site: 's', pool: 'p', drained: true }));
    expect(() => desk.take('a', '2')).toThrow(refusal('pool-exhausted'));
    expect(desk.take('a', '1')).toBe(held);
    desk.run(drainPool({ site: 's', pool: 'p', drained: false }));
    desk.take('a', '2');
  });

  test('a resize renumbers nobody, and what falls out is not handed out again', () => {
    const desk = new Desk().withSite([fourAddresses]).withCluster('a');
    const held = desk.take('a', '1');
    const elsewhere = held === '192.0.2.0' ? '192.0.2.1' : '192.0.2.0';
    const pool = poolSpecSchema.parse({ name: 'p', addresses: [elsewhere] });
    desk.run(setPool({ site: 's', pool }));
    expect(desk.take('a', '1')).toBe(held);
    expect(desk.take('a', '2')).toBe(elsewhere);
    desk.free('a', '1');
    expect(() => desk.take('a', '3')).toThrow(refusal('pool-exhausted'));
  });

  test('a growing pool knows what was held outside of it before', () => {
    const desk = new Desk().withSite([fourAddresses]).withCluster('a');
    const held = ['1', '2', '3', '4'].map((uid) => desk.take('a', uid));
    const set = (addresses: string[]) =>
      desk.run(setPool({ site: 's', pool: poolSpecSchema.parse({ name: 'p', addresses }) }));
    set(['192.0.2.9']);
    set(['192.0.2.0-192.0.2.9']);
    expect(held).not.toContain(desk.take('a', '5'));
  });

  test('is refused by a ledger that was moved', () => {
    const desk = new Desk().withSite([fourAddresses]).withCluster('a');
    desk.run(suspendSite({ site: 's', as: 'moved' }));
    expect(() => desk.take('a', '1')).toThrow(refusal('moved'));
  });
});

describe('sharing an address', () => {
  const shared = (ports: string[]) => ({ sharingKey: 'k', ports });

  test('takes the same key, the same cluster and different ports', () => {
    const desk = new Desk().withSite([fourAddresses]).withCluster('a').withCluster('b');
    const first = desk.take('a', '1', shared(['TCP/80']));
    expect(desk.take('a', '2', shared(['TCP/443']))).toBe(first);
    expect(desk.take('a', '3', shared(['TCP/80']))).not.toBe(first);
    expect(desk.take('b', '4', shared(['TCP/22']))).not.toBe(first);
    expect(desk.take('a', '5')).not.toBe(first);
  });

  test('counts once against the quota, and ends with the last sharer', () => {
    const desk = new Desk()
      .withSite([fourAddresses], { quarantineMs: 9 })
      .withCluster('a', { quota: 1 });
    const address = desk.take('a', '1', shared(['TCP/80']));
    desk.take('a', '2', shared(['TCP/443']));
    desk.free('a', '1');
    expect(desk.view.site('s')?.addresses.get(parseAddress(address))?.record.state).toBe('held');
    desk.free('a', '2');
    expect(desk.view.site('s')?.addresses.get(parseAddress(address))?.record.state).toBe('resting');
  });
});
