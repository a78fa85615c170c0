import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAvailable } from '../../services/missing.ts';
import { runOrThrow } from '../../services/run-program.ts';
import { requireNetworkTools } from './network.ts';
import { Overrides } from '../../../packages/causeway/src/gateway/agent/overrides.ts';
import { emptyState } from '../../../packages/causeway/src/gateway/agent/store/state.ts';
import { StateStore } from '../../../packages/causeway/src/gateway/agent/store/state-store.ts';

// The agent's store on a real small file system.

const isRunnable = await isAvailable(requireNetworkTools);

let directory: string;
beforeEach(async () => {
  if (!isRunnable) return;
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-disk-'));
  await runOrThrow('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'causeway-test', directory]);
});
afterEach(async () => {
  if (!isRunnable) return;
  await runOrThrow('umount', [directory]);
  await fs.rm(directory, { recursive: true });
});

const step = (generation: number) => ({
  change: { ...emptyState, generation, digest: 'x'.repeat(5_000) },
  undo: undefined,
  undoes: 0,
});

const faults: readonly [string, string, () => Promise<unknown>, () => Promise<unknown>][] = [
  [
    'read-only',
    'EROFS',
    () => runOrThrow('mount', ['-o', 'remount,ro', directory]),
    () => runOrThrow('mount', ['-o', 'remount,rw', directory]),
  ],
  [
    'full',
    'ENOSPC',
    () => fs.writeFile(path.join(directory, 'filler'), Buffer.alloc(64 * 1024)).catch(() => {}),
    () => fs.rm(path.join(directory, 'filler')),
  ],
];

test.skipIf(!isRunnable).each(faults)(
  'the store recovers from a %s disk by itself',
  async (_, code, begin, end) => {
    const { store } = await StateStore.open(directory);
    await store.append(step(1));
    // The kernel makes no file system read-only that has a file open for writing.
    await store.close();
    await begin();
    await store.append(step(2));
    expect(store.problem).toContain(code);
    await expect(store.compact(step(2).change, [])).rejects.toMatchObject({ code });
    const during = await StateStore.open(directory);
    expect(during.stored.holder.current.generation).toBe(1);
    await during.store.close();
    const overrides = await Overrides.load(path.join(directory, 'overrides.json'));
    await overrides.set('drained', { since: 0, reason: 'new disks' });
    expect(overrides.problem).toContain(code);
    await end();
    await store.compact(step(2).change, []);
    await overrides.storeAgain();
    expect([store.problem, overrides.problem]).toEqual([undefined, undefined]);
    await store.append(step(3));
    await store.close();
    const after = await StateStore.open(directory);
    expect(after.stored.holder.current.generation).toBe(3);
    await after.store.close();
    const kept = await Overrides.load(path.join(directory, 'overrides.json'));
    expect(kept.get('drained')?.reason).toBe('new disks');
  },
);
