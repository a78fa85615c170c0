import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { discardLog } from '@causeway/base/observability/log';
import { openState } from './open-state.ts';

test('renames the files of 0.1.0 in both directories, and keeps newer files', async () => {
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-open-state-'));
  onTestFinished(() => fs.rm(directory, { recursive: true }));
  const stateDirectory = path.join(directory, 'state');
  const runtimeDirectory = path.join(directory, 'run');
  for (const each of [stateDirectory, runtimeDirectory]) await fs.mkdir(each);
  const announced = path.join(runtimeDirectory, 'announced.json');
  const open = () => openState({ stateDirectory, runtimeDirectory }, discardLog);

  await fs.writeFile(path.join(runtimeDirectory, 'claimed.json'), '["192.0.2.1"]');
  await (await open()).opened.store.close();
  expect(await fs.readFile(announced, 'utf8')).toBe('["192.0.2.1"]');

  await fs.writeFile(path.join(runtimeDirectory, 'claimed.json'), '["192.0.2.9"]');
  await (await open()).opened.store.close();
  expect(await fs.readFile(announced, 'utf8')).toBe('["192.0.2.1"]');
});
