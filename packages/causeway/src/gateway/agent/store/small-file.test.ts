import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { loadSmallFile, storeSmallFile } from './small-file.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-small-'));
  file = path.join(directory, 'numbers.json');
});
afterEach(() => fs.rm(directory, { recursive: true }));

const numbers = z.array(z.number());

test('a file that does not exist has the fallback and no damage', async () => {
  expect(await loadSmallFile(file, numbers, [])).toEqual({ value: [], damage: undefined });
});

test.each(['', '{', '[1, 2', '["a"]', '\0\0\0\0'])(
  'a file with %j is set aside, and its copy is used',
  async (content) => {
    await storeSmallFile(file, '[1,2]');
    await fs.writeFile(file, content);
    const { value, damage } = await loadSmallFile(file, numbers, []);
    expect(value).toEqual([1, 2]);
    expect(damage).toContain('uses the copy');
    expect(await fs.readFile(`${file}.damaged-1`, 'utf8')).toBe(content);
  },
);

test('a damaged file without a good copy has the fallback', async () => {
  await fs.mkdir(file);
  await fs.writeFile(`${file}.copy`, '?');
  const { value, damage } = await loadSmallFile(file, numbers, []);
  expect(value).toEqual([]);
  expect(damage).toContain('starts without its contents');
});
