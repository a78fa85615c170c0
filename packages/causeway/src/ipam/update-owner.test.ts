import { expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { TestAllocator, refusal } from './test-allocator.testing.ts';
import { updateOwner } from './update-owner.ts';

const pool = { name: 'p', addresses: ['10.0.0.1-10.0.0.9'] };

/** Two owners of one address, on ports of their own. */
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
  fence = testAllocator.fenceOf('a', uid),
) => testAllocator.run(updateOwner({ site: 's', cluster: 'a', uid, fence, ports }));

test('an owner takes other ports, and keeps its address and its fence', () => {
  const testAllocator = shared();
  const fence = testAllocator.fenceOf('a', 'web');
  const answer = update(testAllocator, 'web', ['TCP/443', 'TCP/80']);
  expect(answer).toMatchObject({ fence, addresses: [{ address: testAllocator.take('a', 'web') }] });
  // Nobody joins on a port that it has taken since.
  const other = testAllocator.take('a', 'api', { sharingKey: 'k', ports: ['TCP/443'] });
  expect(other).not.toBe(testAllocator.take('a', 'web'));
});

test('a port of another sharer is refused, and nothing changes', () => {
  const testAllocator = shared();
  const { revision } = testAllocator.view;
  expect(() => update(testAllocator, 'web', ['UDP/53'])).toThrow(refusal('address-in-use'));
  expect(testAllocator.view.revision).toBe(revision);
});

test('the same ports again write nothing, in whatever order', () => {
  const testAllocator = shared();
  update(testAllocator, 'web', ['TCP/80', 'TCP/443']);
  const { revision } = testAllocator.view;
  update(testAllocator, 'web', ['TCP/443', 'TCP/80']);
  expect(testAllocator.view.revision).toBe(revision);
});

test('it takes no address, and nothing of an earlier owner’s', () => {
  const testAllocator = shared();
  expect(() => update(testAllocator, 'nobody', ['TCP/1'], 1)).toThrow('holds no address');
  const late = testAllocator.fenceOf('a', 'web');
  testAllocator.free('a', 'web', { fence: late });
  testAllocator.take('a', 'web', { sharingKey: 'k', ports: ['TCP/80'] });
  expect(() => update(testAllocator, 'web', ['TCP/1'], late)).toThrow(refusal('stale-fence'));
});

test('it gives up what it does not keep, which rests for the Service that had it', () => {
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
  const fence = testAllocator.fenceOf('a', 'web');
  const keep = (addresses: Address[]) =>
    testAllocator.run(updateOwner({ site: 's', cluster: 'a', uid: 'web', fence, addresses }));
  expect(() => keep([])).toThrow('none of');
  expect(keep([four])).toMatchObject({ fence, addresses: [{ address: four }] });
  const { revision } = testAllocator.view;
  expect(keep([four])).toMatchObject({ addresses: [{ address: four }] });
  expect(testAllocator.view.revision).toBe(revision);
  const rival = () => testAllocator.take('b', 'u', { families: [6], addresses: [six] });
  expect(rival).toThrow(refusal('address-resting'));
  expect(testAllocator.take('a', 'web', web)).toBe(both);
  expect(testAllocator.fenceOf('a', 'web')).toBe(fence);
});
