import { expect, test } from 'vitest';
import type { Address } from '../../../packages/base/src/address/address.ts';
import type { PortManager } from '../../../packages/causeway/src/gateway/controller/ports/port-manager.ts';

export interface ManagerUnderTest {
  /** An empty manager, like that of a controller that has just started. */
  newManager(): Promise<PortManager>;
  /** An address that can be requested and is free. */
  readonly requestable: () => Promise<Address>;
}

const signal = new AbortController().signal;
const nothing: ReadonlySet<string> = new Set();

/** What every port manager guarantees. */
export function portManagerContract(under: ManagerUnderTest): void {
  test('creates ports with their own addresses, and lists them', async () => {
    const manager = await under.newManager();
    const first = await manager.create({ family: 4, requested: undefined, marker: 'one' }, signal);
    const second = await manager.create({ family: 4, requested: undefined, marker: 'two' }, signal);
    expect(first.address).not.toBe(second.address);
    expect(first.family).toBe(4);
    const listed = await manager.list(new Set([first.id, second.id]), nothing, signal);
    expect(listed).toEqual(expect.arrayContaining([first, second]));
    for (const port of [first, second]) await manager.delete(port, signal);
  });

  test('a new manager finds the ports that Services name', async () => {
    const before = await under.newManager();
    const port = await before.create({ family: 4, requested: undefined, marker: 'named' }, signal);
    const after = await under.newManager();
    expect(await after.list(new Set([port.id]), nothing, signal)).toContainEqual(port);
    const next = await after.create({ family: 4, requested: undefined, marker: 'next' }, signal);
    expect(next.address).not.toBe(port.address);
    for (const made of [port, next]) await after.delete(made, signal);
  });

  test('a new manager finds ports that no Service names, and assigns them to no Service', async () => {
    const before = await under.newManager();
    const request = { family: 4 as const, requested: undefined };
    const left = await before.create({ ...request, marker: 'left' }, signal);
    const after = await under.newManager();
    expect(await after.list(nothing, nothing, signal)).toContainEqual(left);
    const next = await after.create({ ...request, marker: 'heir' }, signal);
    expect(next.address).not.toBe(left.address);
    for (const made of [left, next]) await after.delete(made, signal);
    expect(await (await under.newManager()).list(nothing, nothing, signal)).toEqual([]);
  });

  test('a port that is being created is not an orphan', async () => {
    const manager = await under.newManager();
    const port = await manager.create({ family: 4, requested: undefined, marker: 'made' }, signal);
    expect(await manager.list(nothing, new Set(['made']), signal)).toEqual([]);
    expect(await manager.list(nothing, nothing, signal)).toEqual([port]);
    expect(await manager.find(port.id, signal)).toEqual(port);
    await manager.delete(port, signal);
    expect(await manager.find(port.id, signal)).toBeUndefined();
  });

  test('the name of a missing or foreign port finds nothing', async () => {
    const manager = await under.newManager();
    const named = new Set(['203.0.113.99', '00000000-0000-0000-0000-000000000000', 'nonsense']);
    const found = await manager.list(named, nothing, signal);
    expect(found.filter(({ id }) => named.has(id))).toEqual([]);
    for (const id of named) expect(await manager.find(id, signal)).toBeUndefined();
  });

  test('assigns the requested address, and rejects it while it is in use', async () => {
    const manager = await under.newManager();
    const requested = await under.requestable();
    const port = await manager.create({ family: 4, requested, marker: 'request' }, signal);
    expect(port.publicAddress).toBe(requested);
    const again = manager.create({ family: 4, requested, marker: 'again' }, signal);
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
    await manager.delete(port, signal);
    const freed = await manager.create({ family: 4, requested, marker: 'later' }, signal);
    expect(freed.publicAddress).toBe(requested);
    await manager.delete(freed, signal);
  });

  test('deleting a missing port succeeds', async () => {
    const manager = await under.newManager();
    const port = await manager.create({ family: 4, requested: undefined, marker: 'gone' }, signal);
    await manager.delete(port, signal);
    await manager.delete(port, signal);
    const listed = await manager.list(nothing, nothing, signal);
    expect(listed.map(({ id }) => id)).not.toContain(port.id);
  });
}
