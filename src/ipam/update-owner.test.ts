import { expect, test } from 'vitest';
import { Desk, refusal } from './desk.testing.ts';
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
