import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makePlaygroundDirectory, markVariable, sweepPlaygrounds } from './directory.ts';

test('creates its own directory, and removes those of ended processes only', async () => {
  const base = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-sweep-'));
  const child = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => child.once('exit', resolve));
  await fs.mkdir(path.join(base, `causeway-playground-${child.pid}`));
  await fs.mkdir(path.join(base, 'causeway-playground-1'));
  await fs.mkdir(path.join(base, 'something-else'));
  await sweepPlaygrounds(base);
  const directory = await makePlaygroundDirectory(base);
  expect((await fs.readdir(base)).sort()).toEqual([
    'causeway-playground-1',
    path.basename(directory),
    'something-else',
  ]);
  await fs.rm(base, { recursive: true });
});

test('keeps directories of another user, unless this one is root', async () => {
  const base = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-sweep-'));
  const child = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => child.once('exit', resolve));
  await fs.mkdir(path.join(base, `causeway-playground-${child.pid}`));
  await sweepPlaygrounds(base, (process.getuid?.() ?? 0) + 1);
  expect(await fs.readdir(base)).toHaveLength(1);
  await sweepPlaygrounds(base, 0);
  expect(await fs.readdir(base)).toEqual([]);
  await fs.rm(base, { recursive: true });
});

test('ends the remaining processes of an ended playground, and no others', async () => {
  const base = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-sweep-'));
  const dead = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => dead.once('exit', resolve));
  const left = path.join(base, `causeway-playground-${dead.pid}`);
  await fs.mkdir(left);
  const start = (directory: string) =>
    spawn('sleep', ['600'], { env: { ...process.env, [markVariable]: directory } });
  const orphan = start(left);
  const stranger = start(`${left}0`);
  const ended = new Promise((resolve) => orphan.once('exit', (_, signal) => resolve(signal)));
  await sweepPlaygrounds(base);
  expect(await ended).toBe('SIGKILL');
  expect(stranger.kill('SIGTERM')).toBe(true);
  await new Promise((resolve) => stranger.once('exit', resolve));
  expect(stranger.signalCode).toBe('SIGTERM');
  await fs.rm(base, { recursive: true });
});
