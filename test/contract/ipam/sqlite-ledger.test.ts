import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SqliteLedger } from '../../../packages/causeway/src/ipam/sqlite-ledger.ts';
import { describeLedger } from './ledger-contract.ts';

let directory = '';
let count = 0;
beforeAll(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-ledger-'));
});
afterAll(() => fs.rm(directory, { recursive: true }));
const newFile = () => path.join(directory, `${(count += 1)}.db`);
const never = new AbortController().signal;

describeLedger('SQLite', async () => {
  const ledger = await SqliteLedger.open(newFile());
  return { ledger, close: () => ledger.close() };
});

describe('the SQLite file', () => {
  test('keeps acknowledged writes and its revision over a restart', async () => {
    const file = newFile();
    const before = await SqliteLedger.open(file);
    const write = { key: 'state/a', value: '1' };
    const { revision } = await before.commit({ conditions: [], writes: [write] }, never);
    await before.close();
    const after = await SqliteLedger.open(file);
    expect(await after.load('state/', never)).toEqual({
      revision,
      entries: [{ ...write, revision }],
    });
    expect(await after.barrier(never)).toBe(revision);
    await after.close();
  });

  test('is rejected for a second server', async () => {
    const file = newFile();
    const first = await SqliteLedger.open(file);
    await expect(SqliteLedger.open(file)).rejects.toMatchObject({
      code: 'unavailable',
      hint: 'Another server has this file open. For several servers use etcd.',
    });
    await first.close();
  });

  test('is readable only by its owner', async () => {
    const file = newFile();
    const ledger = await SqliteLedger.open(file);
    expect((await fs.stat(file)).mode & 0o077).toBe(0);
    await ledger.close();
  });

  test("says why it can't be opened", async () => {
    await expect(SqliteLedger.open(path.join(directory, 'no', 'such'))).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
