import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { sampleKinds } from './kinds.ts';
import { meaningFile } from './sample-kind.ts';

const samples = path.join(import.meta.dirname, 'samples');
/** Forms of state that 0.1.0 did not know. */
const newer = new Set<string>();
const versions = (await fs.readdir(samples)).sort();
let scratch = '';
beforeAll(async () => {
  scratch = await scratchDirectory('upgrade');
});
afterAll(() => removeDirectory(scratch));

test('there are samples of every release, each with what it meant', async () => {
  expect(versions).toContain('0.1.0');
  for (const { name } of sampleKinds.filter((kind) => !newer.has(kind.name))) {
    expect(await fs.readdir(path.join(samples, '0.1.0', name)), name).toContain(meaningFile);
  }
});

describe.each(versions)('what %s wrote', (version) => {
  test.each(sampleKinds)('is read: $name', async ({ name, read }) => {
    const sample = path.join(samples, version, name);
    const meaning = await fs.readFile(path.join(sample, meaningFile), 'utf8').catch(() => '');
    // A form that is newer than that release.
    if (meaning === '') return;
    const copy = path.join(scratch, `${version}-${name}`);
    await fs.cp(sample, copy, { recursive: true });
    // More may be known of it by now; what was meant then still is.
    expect(await read(copy)).toMatchObject(JSON.parse(meaning) as object);
  });

  test('has no sample that nobody reads', async () => {
    const known = new Set(sampleKinds.map(({ name }) => name));
    const present = await fs.readdir(path.join(samples, version));
    expect(present.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('what this version writes', () => {
  test.each(sampleKinds)('it reads itself: $name', async ({ name, write, read }) => {
    const directory = path.join(scratch, `own-${name}`);
    await fs.mkdir(directory);
    await write(directory);
    expect(await read(directory)).toBeDefined();
  });
});
