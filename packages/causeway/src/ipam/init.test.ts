import fs from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MemoryLedger } from '../../../../test/doubles/memory-ledger.ts';
import { removeDirectory, scratchDirectory } from '../../../../test/services/scratch.ts';
import { presentToken } from './credential.ts';
import { createFirstOperator, createOperator } from './init.ts';
import { keys } from './keys.ts';
import type { CredentialRecord } from './records.ts';

const { signal } = new AbortController();
let directory = '';
let file = '';
beforeEach(async () => {
  directory = await scratchDirectory('ipam-init');
  file = path.join(directory, 'operator.token');
});
afterEach(() => removeDirectory(directory));

const once = (ledger: MemoryLedger) => createFirstOperator(ledger, file, 'first', 5, signal);

async function credentials(ledger: MemoryLedger): Promise<CredentialRecord[]> {
  const { entries } = await ledger.load(keys.credential(''), signal);
  return entries.map(({ value }) => JSON.parse(value) as CredentialRecord);
}

const tokenIn = async () => presentToken((await fs.readFile(file, 'utf8')).trim());

test('creates the first operator once, with a token that only its owner can read', async () => {
  const ledger = new MemoryLedger();
  expect(await once(ledger)).toBe(true);
  expect(await credentials(ledger)).toMatchObject([{ role: 'operator', ...(await tokenIn()) }]);
  expect((await fs.stat(file)).mode & 0o077).toBe(0);
  // As the documentation instructs.
  await fs.rm(file);
  expect(await once(ledger)).toBe(false);
  await expect(fs.access(file)).rejects.toThrow('ENOENT');
});

test('accepts an operator that was created otherwise, but not a cluster’s credential', async () => {
  const ledger = new MemoryLedger();
  const record = { id: 'a', hash: 'b', kind: 'token', role: 'cluster', createdAt: 1 };
  const write = { key: keys.credential('a'), value: JSON.stringify(record) };
  await ledger.commit({ conditions: [], writes: [write] }, signal);
  expect(await once(ledger)).toBe(true);
  const another = new MemoryLedger();
  await createOperator(another, 'before', 1, signal);
  expect(await once(another)).toBe(false);
});

test('continues with the same token after an interruption before the ledger had it', async () => {
  const failing = new MemoryLedger();
  failing.commit = () => Promise.reject(new Error('the power is cut'));
  await expect(once(failing)).rejects.toThrow('the power is cut');
  const written = await tokenIn();
  expect(written).toBeDefined();
  const ledger = new MemoryLedger();
  expect(await once(ledger)).toBe(true);
  expect(await tokenIn()).toEqual(written);
  expect(await credentials(ledger)).toMatchObject([{ ...written }]);
});

test('does not use an incomplete token of an interrupted write', async () => {
  await fs.writeFile(file, 'cwy_0011');
  const ledger = new MemoryLedger();
  expect(await once(ledger)).toBe(true);
  expect(await credentials(ledger)).toMatchObject([{ ...(await tokenIn()) }]);
});
