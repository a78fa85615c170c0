import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { frontendKey, makeFrontend, type Frontend } from '../../protocol/frontend.ts';
import { emptyState, inverseOf, type Change, type GatewayState } from './state.ts';
import type { Step } from './change-lines.ts';
import { StateStore } from './state-store.ts';

let directory: string;
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-store-'));
});
afterEach(() => fs.rm(directory, { recursive: true }));

function frontend(last: number): Frontend {
  return makeFrontend({
    address: parseAddress(`2001:db8::${last}`),
    protocol: 'UDP',
    port: parsePort(53),
    destinations: [{ address: parseAddress('2001:db8:1::1'), port: parsePort(53), weight: 3 }],
    service: 'shop/dns',
  });
}

function step(state: GatewayState, generation: number, added: readonly Frontend[]): Step {
  const change: Change = {
    ...emptyState,
    generation,
    digest: `digest ${generation}`,
    frontends: new Map(added.map((each) => [frontendKey(each), each])),
    nodes: new Map([[parseAddress('10.0.0.1'), { address: parseAddress('10.0.0.1') }]]),
    policies: new Map([
      [
        'shop/web' as never,
        { namespace: 'shop', name: 'web', ingress: [{ from: undefined, ports: [] }] },
      ],
    ]),
    kept: new Map([[frontendKey(frontend(1)), { generation: 1, reason: 'was bad' }]]),
  };
  return { change, undo: inverseOf(state, change, 0), undoes: 0 };
}

async function reopened() {
  const { store, stored } = await StateStore.open(directory);
  await store.close();
  return stored;
}

describe('the stored configuration', () => {
  test('is empty at first, and later contains the appended steps', async () => {
    const { store, stored } = await StateStore.open(directory);
    expect(stored.holder.current).toEqual(emptyState);
    const first = step(emptyState, 1, [frontend(1), frontend(2)]);
    await store.append(first);
    await store.close();
    const { holder, undo } = await reopened();
    expect(holder.current).toEqual(first.change);
    expect(undo).toEqual([first.undo]);
  });

  test('contains the state before or after a truncated step, and accepts further steps', async () => {
    const { store } = await StateStore.open(directory);
    await store.append(step(emptyState, 1, [frontend(1)]));
    const file = path.join(directory, 'accepted');
    const before = (await fs.stat(file)).size;
    await store.append(step(emptyState, 2, [frontend(2)]));
    await store.close();
    const whole = await fs.readFile(file);
    const lengths = Array.from({ length: whole.length - before }, (_, index) => before + index);
    for (const length of [
      ...lengths.filter((each) => each % 13 === 0),
      whole.length - 1,
      whole.length,
    ]) {
      await fs.writeFile(file, whole.subarray(0, length));
      const { store: again, stored } = await StateStore.open(directory);
      const { generation } = stored.holder.current;
      expect(generation).toBe(length === whole.length ? 2 : 1);
      await again.append(step(stored.holder.current, 3, [frontend(3)]));
      await again.close();
      expect((await reopened()).holder.current.frontends.size).toBe(generation + 1);
    }
  });

  test('is rejected if it is damaged in the middle', async () => {
    const { store } = await StateStore.open(directory);
    await store.append(step(emptyState, 1, [frontend(1)]));
    await store.append(step(emptyState, 2, [frontend(2)]));
    await store.close();
    const file = path.join(directory, 'accepted');
    const text = await fs.readFile(file, 'utf8');
    await fs.writeFile(file, text.replace('2001:db8::1', '2001:db8::7'));
    await expect(StateStore.open(directory)).rejects.toMatchObject({ code: 'invalid' });
  });

  test('has the same state and undo steps after a compaction', async () => {
    const { store, stored } = await StateStore.open(directory);
    for (const generation of [1, 2, 3]) {
      const next = step(stored.holder.current, generation, [frontend(generation)]);
      await store.append(next);
      stored.holder.commit(next.change);
      if (next.undo !== undefined) stored.undo.push(next.undo);
    }
    await store.compact(stored.holder.current, stored.undo);
    const compacted = await reopened();
    expect(compacted.holder.current).toEqual(stored.holder.current);
    expect(compacted.undo).toEqual(stored.undo);
    await store.append(step(stored.holder.current, 4, [frontend(4)]));
    await store.close();
    expect((await reopened()).holder.current.generation).toBe(4);
  });

  test('keeps or rejects a step that is appended after a compaction without a directory sync', async () => {
    const { store, stored } = await StateStore.open(directory);
    const first = step(emptyState, 1, [frontend(1)]);
    await store.append(first);
    stored.holder.commit(first.change);
    const open = fs.open.bind(fs);
    const failing = vi
      .spyOn(fs, 'open')
      .mockImplementation((file, ...rest) =>
        file === directory ? Promise.reject(new Error('the disk failed')) : open(file, ...rest),
      );
    await expect(store.compact(stored.holder.current, [])).rejects.toThrow('the disk failed');
    const second = step(stored.holder.current, 2, [frontend(2)]);
    await expect(store.append(second)).rejects.toMatchObject({ code: 'unavailable' });
    failing.mockRestore();
    expect((await reopened()).holder.current.generation).toBe(1);
    await store.append(second);
    await store.close();
    expect((await reopened()).holder.current.frontends.size).toBe(2);
  });
});
