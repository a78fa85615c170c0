import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Overrides } from './overrides.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-overrides-'));
  file = path.join(directory, 'overrides.json');
});
afterEach(() => fs.rm(directory, { recursive: true }));

const drained = { since: 1_000, reason: 'new disks' };

test('a decision survives a damaged file', async () => {
  const overrides = await Overrides.load(file);
  await overrides.set('drained', drained);
  await fs.writeFile(file, '{"drai');
  const again = await Overrides.load(file);
  expect(again.get('drained')).toEqual(drained);
  expect(again.damage).toContain('uses the copy');
  await again.set('drained', undefined);
  expect(again.damage).toBeUndefined();
});

test('a decision applies on a disk that accepts no write, and is stored later', async () => {
  const overrides = await Overrides.load(file);
  const failing = vi.spyOn(fs, 'open').mockRejectedValue(new Error('ENOSPC'));
  await overrides.set('drained', drained);
  expect(overrides.get('drained')).toEqual(drained);
  expect(overrides.problem).toContain('ENOSPC');
  failing.mockRestore();
  await overrides.storeAgain();
  expect(overrides.problem).toBeUndefined();
  expect((await Overrides.load(file)).get('drained')).toEqual(drained);
});
