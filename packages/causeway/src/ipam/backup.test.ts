import { expect, test } from 'vitest';
import { MemoryLedger } from '../../../../test/doubles/memory-ledger.ts';
import { moveLedger, restoreBackup, suspendAll, takeBackup } from './backup.ts';
import { put } from './decision.ts';
import { keys, stateRoot } from './keys.ts';
import { siteRecordSchema } from './records.ts';

const { signal } = new AbortController();

async function filled(): Promise<MemoryLedger> {
  const ledger = new MemoryLedger();
  const site = siteRecordSchema.parse({ name: 's', pools: [] });
  const beat = { id: 'id-1', at: 5, withdrawsAfterMs: 10_000 };
  const writes = [put(keys.site('s'), site), put(keys.beat('s', 'a'), beat)];
  await ledger.commit({ conditions: [], writes }, signal);
  return ledger;
}

async function valueOf(ledger: MemoryLedger, key: string): Promise<unknown> {
  const { entries } = await ledger.load(stateRoot, signal);
  const found = entries.find((entry) => entry.key === key);
  return found === undefined ? undefined : JSON.parse(found.value);
}

test('promises from before a restore do not expire any cluster after it', async () => {
  const source = await filled();
  const target = new MemoryLedger();
  await restoreBackup(target, await takeBackup(source, 9, signal), 'restore', 9, signal);
  expect(await valueOf(target, keys.beat('s', 'a'))).toBeUndefined();
  await suspendAll(source, 'recovering', 9, signal);
  expect(await valueOf(source, keys.beat('s', 'a'))).toBeUndefined();
});

test('a site that recovers still recovers after a move; other sites are open at once', async () => {
  const plain = new MemoryLedger();
  await moveLedger(await filled(), plain, 9, signal);
  expect(await valueOf(plain, keys.site('s'))).not.toHaveProperty('suspended');
  expect(await valueOf(plain, keys.beat('s', 'a'))).toBeDefined();

  const source = await filled();
  await suspendAll(source, 'recovering', 7, signal);
  // Again, as after an interrupted move.
  await suspendAll(source, 'moved', 8, signal);
  const target = new MemoryLedger();
  await moveLedger(source, target, 9, signal);
  expect(await valueOf(source, keys.site('s'))).toMatchObject({ suspended: { as: 'moved' } });
  expect(await valueOf(target, keys.site('s'))).toMatchObject({
    suspended: { as: 'recovering', since: 7 },
  });
});

test('leaves the source open if the target is not empty', async () => {
  const source = await filled();
  await expect(moveLedger(source, await filled(), 9, signal)).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(await valueOf(source, keys.site('s'))).not.toHaveProperty('suspended');
});

test('refuses a backup with a damaged record before it writes anything', async () => {
  const backup = await takeBackup(await filled(), 9, signal);
  const damaged = { key: keys.credential('c'), value: { kind: 'operator' } };
  const target = new MemoryLedger();
  await expect(
    restoreBackup(target, { ...backup, entries: [...backup.entries, damaged] }, 'move', 9, signal),
  ).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(damaged.key) });
  expect((await target.load(stateRoot, signal)).entries).toEqual([]);
});
