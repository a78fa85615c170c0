import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { AppliedMark, whyInDoubt, type AppliedGeneration } from './applied-mark.ts';

test('the mark has the written generation, none at first, and an unknown one if it is damaged', async () => {
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-mark-'));
  const file = path.join(directory, 'applied');
  const mark = new AppliedMark(file);
  expect(await mark.read()).toBeUndefined();
  await mark.write(17);
  expect(await mark.read()).toBe(17);
  await fs.writeFile(file, '');
  expect(await mark.read()).toBe('unknown');
  await fs.rm(directory, { recursive: true });
});

test.each<[string, string | undefined, AppliedGeneration, number, boolean]>([
  ['an undamaged file after a reboot', undefined, undefined, 4, false],
  ['the applied generation', undefined, 4, 4, false],
  ['a step that was stored just before the agent ended', undefined, 4, 5, false],
  ['a truncated file', undefined, 5, 4, true],
  ['a damaged mark', undefined, 'unknown', 4, true],
  ['a damaged file', 'it is damaged', 4, 4, true],
])('%s', (_, damage, applied, stored, isInDoubt) => {
  expect(whyInDoubt(damage, applied, stored) !== undefined).toBe(isInDoubt);
});
