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

  test('stores all steps again after a compaction without a directory sync', async () => {
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
    await store.append(second);
    stored.holder.commit(second.change);
    expect(store.problem).toContain('the disk failed');
    failing.mockRestore();
    expect((await reopened()).holder.current.generation).toBe(1);
    expect(store.needsCompaction).toBe(true);
    await store.compact(stored.holder.current, []);
    expect(store.problem).toBeUndefined();
    await store.close();
    expect((await reopened()).holder.current.frontends.size).toBe(2);
  });
});

describe('a damaged file', () => {
  const file = () => path.join(directory, 'accepted');

  /** Three steps, and a copy of the file as of the second start, with the first step. */
  async function storeSteps(): Promise<void> {
    const { store } = await StateStore.open(directory);
    await store.append(step(emptyState, 1, [frontend(1)]));
    await store.close();
    const { store: again } = await StateStore.open(directory);
    await again.append(step(emptyState, 2, [frontend(2)]));
    await again.append(step(emptyState, 3, [frontend(3)]));
    await again.close();
  }

  test.each<[string, () => Promise<unknown>, number]>([
    [
      'with a changed first step',
      async () =>
        fs.writeFile(
          file(),
          (await fs.readFile(file(), 'utf8')).replace('2001:db8::1', '2001:db8::7'),
        ),
      1,
    ],
    [
      'with a changed second step',
      async () =>
        fs.writeFile(file(), (await fs.readFile(file(), 'utf8')).replace('digest 2', 'digest 7')),
      1,
    ],
    ['that is empty', () => fs.writeFile(file(), ''), 1],
    ['with other bytes', () => fs.writeFile(file(), Buffer.alloc(5_000, 0xff)), 1],
    [
      'that is a directory',
      async () => {
        await fs.rm(file());
        await fs.mkdir(file());
      },
      1,
    ],
  ])('%s is set aside, and the newest good state is used', async (_, damageFile, generation) => {
    await storeSteps();
    await damageFile();
    const { store, stored, damage } = await StateStore.open(directory);
    expect(damage).toContain(file());
    expect(stored.holder.current.generation).toBe(generation);
    expect(store.problem).toBeUndefined();
    await store.append(step(stored.holder.current, 9, [frontend(9)]));
    await store.close();
    expect(await fs.readdir(directory)).toContain('accepted.damaged-1');
    const again = await StateStore.open(directory);
    await again.store.close();
    expect(again.damage).toBeUndefined();
    expect(again.stored.holder.current.generation).toBe(9);
  });

  test('is kept until the limit of kept files, of which the last is replaced', async () => {
    await storeSteps();
    for (let round = 0; round < 8; round += 1) {
      await fs.writeFile(file(), `garbage ${round}\n{"step"\n`);
      const { store } = await StateStore.open(directory);
      await store.close();
    }
    const kept = (await fs.readdir(directory)).filter((name) => name.includes('.damaged-')).sort();
    expect(kept).toEqual([1, 2, 3, 4, 5].map((number) => `accepted.damaged-${number}`));
    expect(await fs.readFile(`${file()}.damaged-1`, 'utf8')).toContain('garbage 0');
    expect(await fs.readFile(`${file()}.damaged-5`, 'utf8')).toContain('garbage 7');
  });
});

describe('a disk that accepts no write', () => {
  test.each(['ENOSPC', 'EROFS', 'EIO'])(
    'with %s leaves the steps in memory until it accepts writes',
    async (code) => {
      const { store, stored } = await StateStore.open(directory);
      const failing = vi
        .spyOn(fs, 'open')
        .mockImplementation(() => Promise.reject(Object.assign(new Error(code), { code })));
      const first = step(emptyState, 1, [frontend(1)]);
      await store.append(first);
      stored.holder.commit(first.change);
      expect(store.problem).toContain(code);
      await expect(store.compact(stored.holder.current, [])).rejects.toThrow(code);
      failing.mockRestore();
      await store.compact(stored.holder.current, []);
      expect(store.problem).toBeUndefined();
      await store.close();
      expect((await reopened()).holder.current.generation).toBe(1);
    },
  );

  test('is no reason not to start', async () => {
    await fs.writeFile(path.join(directory, 'file'), '');
    const { store, stored } = await StateStore.open(path.join(directory, 'file', 'state'));
    expect(stored.holder.current).toEqual(emptyState);
    expect(store.problem).toContain('ENOTDIR');
  });
});
