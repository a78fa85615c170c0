import { expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { Desk, refusal } from './test-allocator.testing.ts';
import { updateOwner } from './update-owner.ts';

const pool = { name: 'p', addresses: ['10.0.0.1-10.0.0.9'] };

/** Two owners of one address, on ports of their own. */
function shared(): Desk {
  const desk = new Desk().withSite([pool]).withCluster('a');
  const first = desk.take('a', 'web', { sharingKey: 'k', ports: ['TCP/80'] });
  expect(desk.take('a', 'dns', { sharingKey: 'k', ports: ['UDP/53'] })).toBe(first);
  return desk;
}

const update = (desk: Desk, uid: string, ports: string[], fence = desk.fenceOf('a', uid)) =>
  desk.run(updateOwner({ site: 's', cluster: 'a', uid, fence, ports }));

test('an owner takes other ports, and keeps its address and its fence', () => {
  const desk = shared();
  const fence = desk.fenceOf('a', 'web');
  const answer = update(desk, 'web', ['TCP/443', 'TCP/80']);
  expect(answer).toMatchObject({ fence, addresses: [{ address: desk.take('a', 'web') }] });
  // Nobody joins on a port that it has taken since.
  const other = desk.take('a', 'api', { sharingKey: 'k', ports: ['TCP/443'] });
  expect(other).not.toBe(desk.take('a', 'web'));
});

test('a port of another sharer is refused, and nothing changes', () => {
  const desk = shared();
  const { revision } = desk.view;
  expect(() => update(desk, 'web', ['UDP/53'])).toThrow(refusal('address-in-use'));
  expect(desk.view.revision).toBe(revision);
});

test('the same ports again write nothing, in whatever order', () => {
  const desk = shared();
  update(desk, 'web', ['TCP/80', 'TCP/443']);
  const { revision } = desk.view;
  update(desk, 'web', ['TCP/443', 'TCP/80']);
  expect(desk.view.revision).toBe(revision);
});

test('it takes no address, and nothing of an earlier owner’s', () => {
  const desk = shared();
  expect(() => update(desk, 'nobody', ['TCP/1'], 1)).toThrow('holds no address');
  const late = desk.fenceOf('a', 'web');
  desk.free('a', 'web', { fence: late });
  desk.take('a', 'web', { sharingKey: 'k', ports: ['TCP/80'] });
  expect(() => update(desk, 'web', ['TCP/1'], late)).toThrow(refusal('stale-fence'));
});

test('it gives up what it does not keep, which rests for the Service that had it', () => {
  const pools = [pool, { name: 'six', addresses: ['2001:db8::1-2001:db8::9'] }];
  const desk = new Desk().withSite(pools, { keepMs: 60_000 }).withCluster('a').withCluster('b');
  const web = { namespace: 'd', name: 'web', families: [4, 6] as (4 | 6)[] };
  const both = desk.take('a', 'web', web);
  const [four = parseAddress('10.0.0.1'), six = parseAddress('::')] = both
    .split(' ')
    .map(parseAddress);
  const fence = desk.fenceOf('a', 'web');
  const keep = (addresses: Address[]) =>
    desk.run(updateOwner({ site: 's', cluster: 'a', uid: 'web', fence, addresses }));
  expect(() => keep([])).toThrow('none of');
  expect(keep([four])).toMatchObject({ fence, addresses: [{ address: four }] });
  const { revision } = desk.view;
  expect(keep([four])).toMatchObject({ addresses: [{ address: four }] });
  expect(desk.view.revision).toBe(revision);
  const rival = () => desk.take('b', 'u', { families: [6], addresses: [six] });
  expect(rival).toThrow(refusal('address-resting'));
  expect(desk.take('a', 'web', web)).toBe(both);
  expect(desk.fenceOf('a', 'web')).toBe(fence);
});
