import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { sampleKinds } from './kinds.ts';
import { meaningFile } from './sample-kind.ts';

const samples = path.join(import.meta.dirname, 'samples');
/** Forms of state that 0.1.0 did not have. */
const newer = new Set<string>();
const versions = (await fs.readdir(samples)).sort();
let scratch = '';
beforeAll(async () => {
  scratch = await scratchDirectory('upgrade');
});
afterAll(() => removeDirectory(scratch));

test('there are samples of every release, each with its meaning', async () => {
  expect(versions).toContain('0.1.0');
  for (const { name } of sampleKinds.filter((kind) => !newer.has(kind.name))) {
    expect(await fs.readdir(path.join(samples, '0.1.0', name)), name).toContain(meaningFile);
  }
});

describe.each(versions)('samples written by %s', (version) => {
  test.each(sampleKinds)('are read: $name', async ({ name, read }) => {
    const sample = path.join(samples, version, name);
    const meaning = await fs.readFile(path.join(sample, meaningFile), 'utf8').catch(() => '');
    // A form that is newer than that release.
    if (meaning === '') return;
    const copy = path.join(scratch, `${version}-${name}`);
    await fs.cp(sample, copy, { recursive: true });
    // Newer code may read more; the old meaning must be included.
    expect(await read(copy)).toMatchObject(JSON.parse(meaning) as object);
  });

  test('has no sample without a reader', async () => {
    const known = new Set(sampleKinds.map(({ name }) => name));
    const present = await fs.readdir(path.join(samples, version));
    expect(present.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('samples written by this version', () => {
  test.each(sampleKinds)('are read by this version: $name', async ({ name, write, read }) => {
    const directory = path.join(scratch, `own-${name}`);
    await fs.mkdir(directory);
    await write(directory);
    expect(await read(directory)).toBeDefined();
  });
});
