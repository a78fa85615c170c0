import { expect, test } from 'vitest';
import { parseAddressRange } from '../../domain/address-range.ts';
import { parseAddress, type Address } from '../../domain/address.ts';
import { parsePort } from '../../domain/port.ts';
import { PortKeeper } from './port-keeper.ts';
import type { PortWish } from './port-manager.ts';
import type { L2Port } from './port-mapper.ts';
import { StaticPortManager } from './static-port-manager.ts';

const signal = new AbortController().signal;
const none: ReadonlySet<Address> = new Set();

/** Addresses that can be lost, and whose public side can be. */
class FragileManager extends StaticPortManager {
  readonly ports = new Map<string, L2Port>();
  readonly wishes: PortWish[] = [];
  isFull = false;

  override list(): Promise<readonly L2Port[]> {
    return Promise.resolve([...this.ports.values()]);
  }

  override async create(wish: PortWish): Promise<L2Port> {
    this.wishes.push(wish);
    if (this.isFull) throw new Error('quota');
    const made = { ...(await super.create(wish)), id: `port-${this.wishes.length}` };
    this.ports.set(made.id, made);
    return made;
  }

  override keepPublic(port: L2Port, keepsPublic = true): Promise<L2Port> {
    const marked = { ...port, keepsPublic };
    this.ports.set(port.id, marked);
    return Promise.resolve(marked);
  }

  override mend(port: L2Port): Promise<L2Port> {
    const publicAddress = parseAddress('203.0.113.9');
    const mended = this.damaged.has(port.id) ? { ...port, publicAddress } : port;
    this.ports.set(port.id, mended);
    return Promise.resolve(mended);
  }

  readonly damaged = new Set<string>();

  lose(id: string): void {
    const port = this.ports.get(id);
    if (port !== undefined) void super.delete(port);
    this.ports.delete(id);
  }
}

const fragile = () => new FragileManager([parseAddressRange('192.0.2.1-192.0.2.9')]);
const keeperOf = (manager: FragileManager) => new PortKeeper(manager, () => 'marker');
const request = (owner: string, port = 80) => ({
  owner,
  family: 4 as const,
  needs: [{ protocol: 'TCP' as const, port: parsePort(port) }],
  circle: 'namespace:default',
});
const claim = (owner: string, portId: string, port = 80) => ({
  ...request(owner, port),
  portId,
  isAsItWas: true,
  createdAt: '2026-01-01',
  publicAddress: parseAddress('192.0.2.4'),
});

test('a port that is lost is made again for all who were on it, with the address it had', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  await keeper.reserve(request('b', 81), signal);
  const before = keeper.portsOf('a').get(4);
  manager.lose('port-1');
  expect(await keeper.findDrift(none, signal)).toEqual(['a', 'b']);
  expect(keeper.portsOf('a').get(4)).toEqual({ ...before, id: 'port-2' });
  expect(keeper.portsOf('b').get(4)?.id).toBe('port-2');
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  // One that nobody uses is not missed.
  keeper.release('a');
  keeper.release('b');
  manager.lose('port-2');
  expect(await keeper.findDrift(none, signal)).toEqual([]);
  expect(keeper.unused()).toEqual([]);
});

test('where it can not be made again its users are placed anew', async () => {
  const manager = fragile();
  const keeper = keeperOf(manager);
  await keeper.reserve(request('a'), signal);
  manager.lose('port-1');
  manager.isFull = true;
  expect(await keeper.findDrift(none, signal)).toEqual(['a']);
  expect(keeper.portsOf('a').size).toBe(0);
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
