import { expect, test } from 'vitest';
import { parseAddressRange } from '@causeway/base/address/address-range';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { MemoryAddressBook } from './memory-address-book.testing.ts';
import { PortKeeper } from './port-keeper.ts';
import type { PortRequest } from './port-manager.ts';
import type { L2Port } from './port-slot.ts';
import { StaticPortManager } from './static-port-manager.ts';

const signal = new AbortController().signal;
const none: ReadonlySet<Address> = new Set();

/** Addresses that can be lost, and whose public side can be. */
class FragileManager extends StaticPortManager {
  readonly ports = new Map<string, L2Port>();
  readonly wishes: PortRequest[] = [];
  isFull = false;
  /** How often anything was changed in the cloud. */
  changes = 0;

  /** Ports that are there, and that the listing misses. */
  readonly hidden = new Set<string>();
  /** What happens while a listing is on its way. */
  meanwhile: () => Promise<void> = () => Promise.resolve();

  override async list(): Promise<readonly L2Port[]> {
    const seen = [...this.ports.values()].filter(({ id }) => !this.hidden.has(id));
    await this.meanwhile();
    return seen;
  }

  override find(id: string): Promise<L2Port | undefined> {
    return Promise.resolve(this.ports.get(id));
  }

  override async delete(port: L2Port): Promise<void> {
    await super.delete(port);
    this.ports.delete(port.id);
  }

  override async create(wish: PortRequest): Promise<L2Port> {
    this.wishes.push(wish);
    if (this.isFull) throw new Error('quota');
    this.changes += 1;
    const made = { ...(await super.create(wish, signal)), id: `port-${this.wishes.length}` };
    this.ports.set(made.id, made);
    return made;
  }

  override keepPublic(port: L2Port, keepsPublic = true): Promise<L2Port> {
    const marked = { ...port, keepsPublic };
    this.ports.set(port.id, marked);
    return Promise.resolve(marked);
  }

  override async mend(port: L2Port): Promise<L2Port> {
    if (!this.damaged.has(port.id)) return port;
    if (this.isFull) throw new Error('quota');
    this.changes += 1;
    const mended = { ...port, publicAddress: parseAddress('203.0.113.9') };
    this.ports.set(port.id, mended);
    return mended;
  }

  readonly damaged = new Set<string>();
  isUnmarkable = false;

  override mark(): Promise<void> {
    return this.isUnmarkable ? Promise.reject(new Error('no tags today')) : Promise.resolve();
  }

  async lose(id: string): Promise<void> {
    const port = this.ports.get(id);
    if (port !== undefined) await super.delete(port);
    this.ports.delete(id);
  }
}

const fragile = () =>
  new FragileManager([parseAddressRange('192.0.2.1-192.0.2.9')], new MemoryAddressBook());
const keeperOf = (manager: FragileManager) => new PortKeeper(manager, () => 'marker');
const place = { family: 4 as const, namespace: 'default', sharingGroup: 'namespace:default' };
const tcp = (port: number) => [{ protocol: 'TCP' as const, port: parsePort(port) }];
const request = (owner: string, port = 80) => ({ owner, ...place, needs: tcp(port) });
const claim = (owner: string, portId: string, port = 80) => ({
  owner,
  portId,
  ...place,
  held: tcp(port),
  isWritten: true,
  isTakenOver: true,
  createdAt: '2026-01-01',
  publicAddress: parseAddress('192.0.2.4'),
  ownSharingGroup: place.sharingGroup,
  advertised: [],
});

test('a port that is lost is made again for all who were on it, with the address it had', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  await keeper.reserve(request('b', 81), signal);
  const before = keeper.portsOf('a').get(4);
  await manager.lose('port-1');
  expect(await keeper.findDrift(none, signal)).toEqual(['a', 'b']);
  expect(keeper.portsOf('a').get(4)).toEqual({ ...before, id: 'port-2' });
  expect(keeper.portsOf('b').get(4)?.id).toBe('port-2');
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  // One that nobody uses is not missed.
  keeper.release('a');
  keeper.release('b');
  await manager.lose('port-2');
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  expect(keeper.unused()).toEqual([]);
});

test('a port that one listing misses is asked for by its id, and not made again', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  manager.hidden.add('port-1');
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  expect(manager.changes).toBe(1);
  const next = keeperOf(manager);
  expect(await next.restore([claim('a', 'port-1')], signal)).toEqual([]);
  expect(next.portsOf('a').get(4)?.id).toBe('port-1');
  expect(manager.changes).toBe(1);
});

test('a listing from before a deletion does not bring the port back onto an address that is given anew', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  const reservation = await keeper.reserve(request('a'), signal);
  if (reservation.kind !== 'port') throw new Error('it is to have a port');
  keeper.release('a');
  manager.meanwhile = async () => {
    await keeper.retire(reservation.port, signal);
    await keeper.reserve(request('b'), signal);
  };
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  expect(keeper.portsOf('b').get(4)).toEqual({ ...reservation.port, id: 'port-2' });
  expect(keeper.unused()).toEqual([]);
});

test('who was on a port that is made again is told, although a later step fails', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  const told: string[] = [];
  keeper.onDisplaced((owners) => told.push(...owners));
  await keeper.reserve(request('a'), signal);
  await manager.lose('port-1');
  manager.sweep = () => Promise.reject(new Error('the cloud is away'));
  await expect(keeper.findDrift(none, signal)).rejects.toThrow('the cloud is away');
  expect(told).toEqual(['a']);
});

test('nothing is made for who is on hold; it gets its address back when it is served', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  const before = keeper.portsOf('a').get(4)?.address;
  await manager.lose('port-1');
  expect(await keeper.findDrift(none, signal, () => true)).toEqual(['a']);
  expect(manager.changes).toBe(1);
  await keeper.reserve(request('a'), signal);
  expect(keeper.portsOf('a').get(4)?.address).toBe(before);
});

test('where it can not be made again its users are told, and get its address when that can be had', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('first'), signal);
  await keeper.reserve(request('a'), signal);
  const before = keeper.portsOf('a').get(4);
  await manager.lose('port-2');
  manager.isFull = true;
  expect(await keeper.findDrift(none, signal)).toEqual(['a']);
  expect(keeper.portsOf('a').size).toBe(0);
  expect(keeper.takeNote('a')).toEqual({
    reason: 'AddressLost',
    message:
      "The Neutron port of 192.0.2.2 was lost, and the controller can't create it again: quota",
  });
  expect(keeper.takeNote('a')).toBeUndefined();
  await expect(keeper.reserve(request('a'), signal)).rejects.toThrow('quota');
  manager.isFull = false;
  keeper.release('first');
  await keeper.reserve(request('a'), signal);
  expect(keeper.portsOf('a').get(4)?.address).toBe(before?.address);
  expect(keeper.takeNote('a')).toBeUndefined();
});

test('a floating IP that can not be had again is not forgotten, and tried again', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  const before = keeper.portsOf('a').get(4);
  manager.damaged.add('port-1');
  manager.isFull = true;
  expect(await keeper.findDrift(none, signal)).toEqual(['a']);
  expect(keeper.portsOf('a').get(4)).toEqual({ ...before, missing: 'quota' });
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  manager.isFull = false;
  manager.damaged.clear();
  expect(await keeper.findDrift(none, signal)).toEqual(['a']);
  expect(keeper.portsOf('a').get(4)).toEqual(before);
});

test('a port that can not be marked has its floating IP all the same, and gets one it lost', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  manager.isUnmarkable = true;
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  expect(keeper.portsOf('a').get(4)?.missing).toBeUndefined();
  manager.damaged.add('port-1');
  expect(await keeper.findDrift(none, signal)).toEqual(['a']);
  expect(keeper.portsOf('a').get(4)?.publicAddress).toBe('203.0.113.9');
});

test('nothing is changed for a Service before it is taken over', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  manager.damaged.add('port-1');
  const next = keeperOf(manager);
  const inherited = { ...claim('a', 'port-1'), isTakenOver: false, publicAddress: undefined };
  const gone = { ...claim('b', 'port-9'), isTakenOver: false };
  const losers = await next.restore([inherited, gone], signal);
  expect(losers.map(({ owner }) => owner)).toEqual(['b']);
  expect(await next.findDrift(none, signal)).toEqual([]);
  expect(manager.changes).toBe(1);
  await next.takeOver('a', signal);
  expect(next.portsOf('a').get(4)?.publicAddress).toBe('203.0.113.9');
  expect(manager.changes).toBe(2);
});

test('what a Service loses before it is taken over, or while it is on hold, it gets when it is served', async () => {
  const manager = fragile();
  await keeperOf(manager).reserve(request('a'), signal);
  const keeper = keeperOf(manager);
  const held = { ...claim('a', 'port-1'), isTakenOver: false, publicAddress: undefined };
  const advertised = [parseAddress('192.0.2.7')];
  const lost = { ...claim('b', 'gone', 81), isTakenOver: false, publicAddress: undefined };
  await keeper.restore([held, { ...lost, advertised }], signal);
  await manager.lose('port-1');
  expect(await keeper.findDrift(none, signal)).toEqual(['a']);
  expect(manager.changes).toBe(1);
  await keeper.reserve(request('b'), signal);
  expect(keeper.portsOf('b').get(4)?.address).toBe('192.0.2.7');
  await keeper.reserve(request('a'), signal);
  expect(keeper.portsOf('a').get(4)?.address).toBe('192.0.2.1');
});

test('a port that was lost while nobody looked is made again at the start', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  const losers = await keeper.restore([claim('a', 'gone'), claim('b', 'gone', 81)], signal);
  expect(losers).toEqual([]);
  expect(manager.wishes).toHaveLength(1);
  expect(keeper.portsOf('a').get(4)).toMatchObject({ id: 'port-1', address: '192.0.2.4' });
  expect(keeper.portsOf('b').get(4)?.id).toBe('port-1');
});

test('a lost floating IP is replaced, and its users are told', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  manager.damaged.add('port-1');
  expect(await keeper.findDrift(none, signal)).toEqual(['a']);
  expect(keeper.portsOf('a').get(4)?.publicAddress).toBe('203.0.113.9');
  expect(keeper.takeNote('a')).toMatchObject({ reason: 'AddressChanged' });
  expect(await keeper.findDrift(none, signal)).toEqual([]);
});

test('a floating IP is to be kept as long as one of those who share it wants that', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  await keeper.reserve(request('b', 81), signal);
  await keeper.keepPublic('a', true, signal);
  await keeper.keepPublic('b', false, signal);
  expect(keeper.portsOf('b').get(4)?.keepsPublic).toBe(true);
  await keeper.keepPublic('a', false, signal);
  expect(keeper.portsOf('b').get(4)?.keepsPublic).toBe(false);
  // After a restart the one that does not want it comes first, and changes nothing.
  await keeper.keepPublic('a', true, signal);
  const again = keeperOf(manager);
  await again.restore(
    [
      { ...claim('a', 'port-1'), keepsPublic: true },
      { ...claim('b', 'port-1', 81), keepsPublic: false },
    ],
    signal,
  );
  await again.keepPublic('b', false, signal);
  expect(manager.ports.get('port-1')?.keepsPublic).toBe(true);
});
