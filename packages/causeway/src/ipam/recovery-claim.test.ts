import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { Desk, refusal } from './test-allocator.testing.ts';
import { serveQueue } from './maintenance-decisions.ts';
import { drainPool, suspendSite } from './site-decisions.ts';

const pool = { name: 'p', addresses: ['192.0.2.1-192.0.2.4'] };
const [one, two, three] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const;
const later = 2_000_000;

/** Clusters `a` and `b`; owner `1` of `a` holds the first address, and the site recovers from then on. */
const recoveringDesk = () => {
  const desk = new Desk().withSite([pool]).withCluster('a', { quota: 2 }).withCluster('b');
  desk.reserve('a', { uid: '1', addresses: [one] });
  desk.run(suspendSite({ site: 's', as: 'recovering' }));
  return desk;
};
const claim = (desk: Desk, cluster: string, uid: string, address: string, more = {}) =>
  desk.reserve(cluster, { uid, addresses: [address], claim: true, ...more });
const ownersOf = (desk: Desk, address: string) => {
  const record = desk.view.site('s')?.addresses.get(parseAddress(address))?.record;
  return record?.state === 'held' ? record.owners.map(({ uid }) => uid) : record?.state;
};

describe('while a site recovers', () => {
  test('a claim of what is in use is believed', () => {
    const desk = recoveringDesk();
    expect(claim(desk, 'b', 'x', two)).toMatchObject({
      reservation: { addresses: [{ address: two, pool: 'p' }] },
    });
    expect(claim(desk, 'a', '1', one)).toMatchObject({
      reservation: { addresses: [{ address: one }] },
    });
    desk.run(suspendSite({ site: 's', as: undefined }));
    expect([three, '192.0.2.4']).toContain(desk.take('a', 'new'));
  });

  test('nobody is given anything else: what looks free may be in use', () => {
    const desk = recoveringDesk();
    expect(() => desk.take('a', 'new')).toThrow(refusal('recovering'));
    expect(() => desk.reserve('a', { uid: 'new', addresses: [two] })).toThrow(
      refusal('recovering'),
    );
    // It may have freed it since, and another cluster may have it.
    expect(() => desk.take('a', '1')).toThrow(refusal('recovering'));
  });

  test('nobody joins or takes over without a claim', () => {
    const desk = new Desk().withSite([pool], { quarantineMs: 100, keepMs: 100 }).withCluster('a');
    desk.take('a', 'shares', { sharingKey: 'k', ports: ['TCP/80'] });
    desk.take('a', 'left', { namespace: 'n', name: 'web' });
    desk.free('a', 'left');
    desk.run(suspendSite({ site: 's', as: 'recovering' }));
    const joins = { sharingKey: 'k', ports: ['TCP/443'] };
    expect(() => desk.take('a', 'joins', joins)).toThrow(refusal('recovering'));
    const again = { namespace: 'n', name: 'web' };
    expect(() => desk.take('a', 'again', again)).toThrow(refusal('recovering'));
  });

  test('what another cluster is known to hold stays with it, and the claim is not lost for good', () => {
    const desk = recoveringDesk();
    expect(() => claim(desk, 'b', 'x', one)).toThrow(refusal('recovering'));
    desk.free('a', '1');
    claim(desk, 'b', 'x', one);
    expect(ownersOf(desk, one)).toEqual(['x']);
  });

  test('an owner that has got another address since moves; the old one rests', () => {
    const desk = recoveringDesk();
    const fence = desk.view.site('s')?.addresses.get(parseAddress(one))?.record;
    claim(desk, 'a', '1', two);
    expect(ownersOf(desk, two)).toEqual(['1']);
    expect(ownersOf(desk, one)).toBe('resting');
    expect(fence).toMatchObject({ owners: [{ fence: desk.fenceOf('a', '1', two) }] });
  });

  test('a cluster knows its owners better than the ledger: one made anew has the address', () => {
    const desk = recoveringDesk();
    claim(desk, 'a', 'anew', one);
    expect(ownersOf(desk, one)).toEqual(['anew']);
  });

  test('sharers claim one after the other', () => {
    const desk = recoveringDesk();
    const shared = (port: string) => ({ sharingKey: 'k', ports: [port] });
    claim(desk, 'a', 'x', two, shared('TCP/80'));
    claim(desk, 'a', 'y', two, shared('TCP/443'));
    expect(ownersOf(desk, two)).toEqual(['x', 'y']);
    claim(desk, 'a', 'z', two, shared('TCP/80'));
    expect(ownersOf(desk, two)).toEqual(['y', 'z']);
  });

  test('neither a drain nor a quota stands in the way, but a pool must have it', () => {
    const desk = recoveringDesk();
    desk.run(drainPool({ site: 's', pool: 'p', drained: true }));
    claim(desk, 'a', '2', two);
    claim(desk, 'a', '3', three);
    expect(() => claim(desk, 'a', '4', '198.51.100.1')).toThrow(refusal('address-outside'));
  });

  test('a family that is not named is not given', () => {
    const desk = recoveringDesk();
    desk.run(suspendSite({ site: 's', as: undefined }));
    desk.withSite([{ name: 'six', addresses: ['2001:db8::5'] }]);
    desk.run(suspendSite({ site: 's', as: 'recovering' }));
    const answer = claim(desk, 'a', '1', one, { families: [4, 6] });
    expect(answer).toMatchObject({ reservation: { addresses: [{ address: one }] } });
  });

  test('who waits keeps the place', () => {
    const desk = new Desk().withSite([{ name: 'p', addresses: [one] }]).withCluster('a');
    desk.take('a', '1');
    desk.reserve('a', { uid: 'waits' }, later);
    desk.run(suspendSite({ site: 's', as: 'recovering' }));
    desk.free('a', '1');
    expect(desk.run(serveQueue('s'))).toBeUndefined();
    desk.run(suspendSite({ site: 's', as: undefined }));
    expect(desk.run(serveQueue('s'))).toMatchObject({ reservation: { uid: 'waits' } });
  });
});
