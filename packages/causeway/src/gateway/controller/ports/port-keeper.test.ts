import { expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { MemoryAddressRecords } from './memory-address-records.testing.ts';
import { PortKeeper } from './port-keeper.ts';
import { ReasonQueue } from '../reasons/reason-queue.ts';
import type { PortRequest } from './port-manager.ts';
import type { L2Port } from './port-slot.ts';
import { StaticPortManager } from './static-port-manager.ts';
import { parseStaticAddresses } from './static-addresses.ts';

const signal = new AbortController().signal;
const none: ReadonlySet<Address> = new Set();

/** A manager that can lose ports and floating IPs. */
class FragileManager extends StaticPortManager {
  readonly ports = new Map<string, L2Port>();
  readonly requests: PortRequest[] = [];
  isFull = false;
  /** The number of changes in the cloud. */
  changes = 0;

  /** Existing ports that the list misses. */
  readonly hidden = new Set<string>();
  /** Runs during a list request. */
  duringList: () => Promise<void> = () => Promise.resolve();

  override async list(): Promise<readonly L2Port[]> {
    const seen = [...this.ports.values()].filter(({ id }) => !this.hidden.has(id));
    await this.duringList();
    return seen;
  }

  override find(id: string): Promise<L2Port | undefined> {
    return Promise.resolve(this.ports.get(id));
  }

  override async delete(port: L2Port): Promise<void> {
    await super.delete(port);
    this.ports.delete(port.id);
  }

  override async create(wanted: PortRequest): Promise<L2Port> {
    this.requests.push(wanted);
    if (this.isFull) throw new Error('quota');
    this.changes += 1;
    const made = { ...(await super.create(wanted, signal)), id: `port-${this.requests.length}` };
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
  new FragileManager(
    { ranges: [parseStaticAddresses('192.0.2.1-192.0.2.9')] },
    new MemoryAddressRecords(),
  );
const keeperOf = (manager: FragileManager, reasons = new ReasonQueue()) =>
  new PortKeeper(manager, () => 'marker', reasons);
const place = { family: 4 as const, namespace: 'default', sharingGroup: 'namespace:default' };
const tcp = (port: number) => [{ protocol: 'TCP' as const, port: parsePort(port) }];
const request = (owner: string, port = 80) => ({ owner, ...place, needs: tcp(port) });
const allocation = (owner: string, portId: string, port = 80) => ({
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

test('recreates a lost port with its address for all its users', async () => {
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
  // A lost port without users is not recreated.
  keeper.release('a');
  keeper.release('b');
  await manager.lose('port-2');
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  expect(keeper.unused()).toEqual([]);
});

test('finds a port that a list misses by its ID, and does not recreate it', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  manager.hidden.add('port-1');
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  expect(manager.changes).toBe(1);
  const next = keeperOf(manager);
  expect(await next.restore([allocation('a', 'port-1')], signal)).toEqual([]);
  expect(next.portsOf('a').get(4)?.id).toBe('port-1');
  expect(manager.changes).toBe(1);
});

test('ignores a deleted port in an outdated list if its address is assigned again', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  const reservation = await keeper.reserve(request('a'), signal);
  if (reservation.kind !== 'port') throw new Error('it is to have a port');
  keeper.release('a');
  manager.duringList = async () => {
    await keeper.retire(reservation.port, signal);
    await keeper.reserve(request('b'), signal);
  };
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  expect(keeper.portsOf('b').get(4)).toEqual({ ...reservation.port, id: 'port-2' });
  expect(keeper.unused()).toEqual([]);
});

test('notifies the users of a recreated port even if a later step fails', async () => {
  const manager = fragile();
  const reasons = new ReasonQueue();
  const keeper = keeperOf(manager, reasons);
  await keeper.reserve(request('a'), signal);
  await manager.lose('port-1');
  manager.sweep = () => Promise.reject(new Error('the cloud is away'));
  await expect(keeper.findDrift(none, signal)).rejects.toThrow('the cloud is away');
  expect(reasons.take()).toEqual([{ kind: 'ports-changed', owner: 'a' }]);
});

test('creates nothing for a Service on hold, which gets its address back later', async () => {
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

test("reports a port that can't be recreated, and restores its address later", async () => {
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
    message: "The port of 192.0.2.2 was lost and can't be recreated: quota",
  });
  expect(keeper.takeNote('a')).toBeUndefined();
  await expect(keeper.reserve(request('a'), signal)).rejects.toThrow('quota');
  manager.isFull = false;
  keeper.release('first');
  await keeper.reserve(request('a'), signal);
  expect(keeper.portsOf('a').get(4)?.address).toBe(before?.address);
  expect(keeper.takeNote('a')).toBeUndefined();
});

test("retries a floating IP that can't be recreated", async () => {
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

test("restores the floating IP of a port that can't be marked", async () => {
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

test('changes nothing for a Service before it is taken over', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  manager.damaged.add('port-1');
  const next = keeperOf(manager);
  const inherited = { ...allocation('a', 'port-1'), isTakenOver: false, publicAddress: undefined };
  const gone = { ...allocation('b', 'port-9'), isTakenOver: false };
  const losers = await next.restore([inherited, gone], signal);
  expect(losers.map(({ owner }) => owner)).toEqual(['b']);
  expect(await next.findDrift(none, signal)).toEqual([]);
  expect(manager.changes).toBe(1);
  await next.takeOver('a', signal);
  expect(next.portsOf('a').get(4)?.publicAddress).toBe('203.0.113.9');
  expect(manager.changes).toBe(2);
});

test('restores losses from before the takeover or during a hold when the Service is served', async () => {
  const manager = fragile();
  await keeperOf(manager).reserve(request('a'), signal);
  const keeper = keeperOf(manager);
  const held = { ...allocation('a', 'port-1'), isTakenOver: false, publicAddress: undefined };
  const advertised = [parseAddress('192.0.2.7')];
  const lost = { ...allocation('b', 'gone', 81), isTakenOver: false, publicAddress: undefined };
  await keeper.restore([held, { ...lost, advertised }], signal);
  await manager.lose('port-1');
  expect(await keeper.findDrift(none, signal)).toEqual(['a']);
  expect(manager.changes).toBe(1);
  await keeper.reserve(request('b'), signal);
  expect(keeper.portsOf('b').get(4)?.address).toBe('192.0.2.7');
  await keeper.reserve(request('a'), signal);
  expect(keeper.portsOf('a').get(4)?.address).toBe('192.0.2.1');
});

test('recreates at the start a port that was lost while no controller ran', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  const losers = await keeper.restore(
    [allocation('a', 'gone'), allocation('b', 'gone', 81)],
    signal,
  );
  expect(losers).toEqual([]);
  expect(manager.requests).toHaveLength(1);
  expect(keeper.portsOf('a').get(4)).toMatchObject({ id: 'port-1', address: '192.0.2.4' });
  expect(keeper.portsOf('b').get(4)?.id).toBe('port-1');
});

test('replaces a lost floating IP and reports it', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  manager.damaged.add('port-1');
  expect(await keeper.findDrift(none, signal)).toEqual(['a']);
  expect(keeper.portsOf('a').get(4)?.publicAddress).toBe('203.0.113.9');
  expect(keeper.takeNote('a')).toMatchObject({ reason: 'AddressChanged' });
  expect(await keeper.findDrift(none, signal)).toEqual([]);
});

test('keeps a floating IP while one of its users wants it', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  await keeper.reserve(request('b', 81), signal);
  await keeper.keepPublic('a', true, signal);
  await keeper.keepPublic('b', false, signal);
  expect(keeper.portsOf('b').get(4)?.keepsPublic).toBe(true);
  await keeper.keepPublic('a', false, signal);
  expect(keeper.portsOf('b').get(4)?.keepsPublic).toBe(false);
  // After a restart, the user that does not want it comes first and changes nothing.
  await keeper.keepPublic('a', true, signal);
  const again = keeperOf(manager);
  await again.restore(
    [
      { ...allocation('a', 'port-1'), keepsPublic: true },
      { ...allocation('b', 'port-1', 81), keepsPublic: false },
    ],
    signal,
  );
  await again.keepPublic('b', false, signal);
  expect(manager.ports.get('port-1')?.keepsPublic).toBe(true);
});

test('puts a Service that appears after the start back onto the port that its status shows', async () => {
  const manager = fragile();
  const first = keeperOf(manager);
  const needs = [{ protocol: 'TCP' as const, port: parsePort(80) }];
  const request = { owner: 'uid', needs, requested: undefined, ...place };
  const reserved = await first.reserve(request, signal);
  const port = reserved.kind === 'port' ? reserved.port : undefined;
  const allocation = {
    owner: 'uid',
    namespace: 'default',
    sharingGroup: place.sharingGroup,
    ownSharingGroup: place.sharingGroup,
    held: needs,
    portId: port?.id ?? '',
    family: 4 as const,
    isWritten: true,
    createdAt: '',
    advertised: [parseAddress('192.0.2.1')],
    isTakenOver: true,
  };
  const keeper = keeperOf(manager);
  await keeper.restore([], signal);
  keeper.rejoin([{ ...allocation, owner: 'copy', advertised: [] }]);
  expect(keeper.portsOf('copy').size).toBe(0);
  keeper.rejoin([allocation]);
  expect(keeper.portsOf('uid').get(4)).toEqual(port);
  expect(keeper.unused()).toEqual([]);
  keeper.rejoin([{ ...allocation, owner: 'second' }]);
  expect(keeper.portsOf('second').size).toBe(0);
});
