import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runBuild } from './build-attempts.ts';
import { MissingError } from './missing.ts';

let directory = '';
const attemptsIn = async () =>
  (await fs.readFile(path.join(directory, 'attempts'), 'utf8')).split('\n').length - 1;

beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-build-'));
});

afterEach(async () => {
  await fs.rm(directory, { recursive: true });
});

/** A compiler that records each attempt, and then runs the lines. */
async function fakeCompiler(...lines: readonly string[]) {
  const compiler = path.join(directory, 'compiler');
  const script = ['#!/bin/sh', 'echo attempt >> attempts', ...lines].join('\n');
  await fs.writeFile(compiler, script, { mode: 0o755 });
  return { name: 'a-program', compiler, args: ['out'], options: { cwd: directory } };
}

test('a build that exceeds its time limit is repeated', async () => {
  const compiler = await fakeCompiler(
    'if [ "$(wc -l < attempts)" -lt 2 ]; then exec sleep 3600; fi',
    'echo built > "$1"',
  );
  await runBuild({ ...compiler, timeoutMs: 500 });
  expect(await fs.readFile(path.join(directory, 'out'), 'utf8')).toBe('built\n');
});

test('a build that never ends counts as missing after three attempts', async () => {
  const compiler = await fakeCompiler('exec sleep 3600');
  const build = runBuild({ ...compiler, timeoutMs: 100 });
  await expect(build).rejects.toThrow('a-program could not be built: 3 attempts exceeded');
});

test('a build that fails is not repeated', async () => {
  const compiler = await fakeCompiler('echo "no such module" >&2', 'exit 1');
  const build = runBuild({ ...compiler, timeoutMs: 60_000 });
  await expect(build).rejects.toThrow(
    new MissingError('a-program could not be built: no such module'),
  );
  expect(await attemptsIn()).toBe(1);
});
