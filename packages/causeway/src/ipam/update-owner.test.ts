import { expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { TestAllocator, refusal } from './test-allocator.testing.ts';
import { updateOwner } from './update-owner.ts';

const pool = { name: 'p', addresses: ['10.0.0.1-10.0.0.9'] };

/** Two owners of one address, with different ports. */
function shared(): TestAllocator {
  const testAllocator = new TestAllocator().withSite([pool]).withCluster('a');
  const first = testAllocator.take('a', 'web', { sharingKey: 'k', ports: ['TCP/80'] });
  expect(testAllocator.take('a', 'dns', { sharingKey: 'k', ports: ['UDP/53'] })).toBe(first);
  return testAllocator;
}

const update = (
  testAllocator: TestAllocator,
  uid: string,
  ports: string[],
  fencingToken = testAllocator.fencingTokenOf('a', uid),
) => testAllocator.run(updateOwner({ site: 's', cluster: 'a', uid, fencingToken, ports }));

test("changes an owner's ports, and keeps its address and its fencing token", () => {
  const testAllocator = shared();
  const fencingToken = testAllocator.fencingTokenOf('a', 'web');
  const answer = update(testAllocator, 'web', ['TCP/443', 'TCP/80']);
  expect(answer).toMatchObject({
    fencingToken,
    addresses: [{ address: testAllocator.take('a', 'web') }],
  });
  // No other owner can join on the new port.
  const other = testAllocator.take('a', 'api', { sharingKey: 'k', ports: ['TCP/443'] });
  expect(other).not.toBe(testAllocator.take('a', 'web'));
});

test('refuses a port of another sharing owner, and changes nothing', () => {
  const testAllocator = shared();
  const { revision } = testAllocator.view;
  expect(() => update(testAllocator, 'web', ['UDP/53'])).toThrow(refusal('address-in-use'));
  expect(testAllocator.view.revision).toBe(revision);
});

test('writes nothing for the same ports, in any order', () => {
  const testAllocator = shared();
  update(testAllocator, 'web', ['TCP/80', 'TCP/443']);
  const { revision } = testAllocator.view;
  update(testAllocator, 'web', ['TCP/443', 'TCP/80']);
  expect(testAllocator.view.revision).toBe(revision);
});

test('assigns no address, and changes nothing of an earlier owner', () => {
  const testAllocator = shared();
  expect(() => update(testAllocator, 'nobody', ['TCP/1'], 1)).toThrow('holds no address');
  const late = testAllocator.fencingTokenOf('a', 'web');
  testAllocator.free('a', 'web', { fencingToken: late });
  testAllocator.take('a', 'web', { sharingKey: 'k', ports: ['TCP/80'] });
  expect(() => update(testAllocator, 'web', ['TCP/1'], late)).toThrow(
    refusal('stale-fencing-token'),
  );
});

test('releases addresses that are not kept, in quarantine for the Service that had them', () => {
  const pools = [pool, { name: 'six', addresses: ['2001:db8::1-2001:db8::9'] }];
  const testAllocator = new TestAllocator()
    .withSite(pools, { keepMs: 60_000 })
    .withCluster('a')
    .withCluster('b');
  const web = { namespace: 'd', name: 'web', families: [4, 6] as (4 | 6)[] };
  const both = testAllocator.take('a', 'web', web);
  const [four = parseAddress('10.0.0.1'), six = parseAddress('::')] = both
    .split(' ')
    .map(parseAddress);
  const fencingToken = testAllocator.fencingTokenOf('a', 'web');
  const keep = (addresses: Address[]) =>
    testAllocator.run(
      updateOwner({ site: 's', cluster: 'a', uid: 'web', fencingToken, addresses }),
    );
  expect(() => keep([])).toThrow('none of');
  expect(keep([four])).toMatchObject({ fencingToken, addresses: [{ address: four }] });
  const { revision } = testAllocator.view;
  expect(keep([four])).toMatchObject({ addresses: [{ address: four }] });
  expect(testAllocator.view.revision).toBe(revision);
  const rival = () => testAllocator.take('b', 'u', { families: [6], addresses: [six] });
  expect(rival).toThrow(refusal('address-resting'));
  expect(testAllocator.take('a', 'web', web)).toBe(both);
  expect(testAllocator.fencingTokenOf('a', 'web')).toBe(fencingToken);
});
