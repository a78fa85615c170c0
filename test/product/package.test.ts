import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOrThrow } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { waitFor } from '../services/wait-for.ts';

const root = path.join(import.meta.dirname, '..', '..');
let directory = '';
let causeway = '';

beforeAll(async () => {
  directory = await scratchDirectory('package');
  // Compiled from a copy, so that the clone stays unchanged.
  const copy = path.join(directory, 'clone');
  const words = ['README.md', 'CHANGELOG.md', 'LICENSE', 'sbom.cdx.json'];
  for (const name of ['packages', 'scripts', 'bin', ...words]) {
    fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  }
  for (const name of [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ]) {
    fs.copyFileSync(path.join(root, name), path.join(copy, name));
  }
  linkDependencies(copy);
  await runOrThrow(process.execPath, [path.join(copy, 'scripts', 'build.ts')], {
    cwd: copy,
  });
  const output = await runOrThrow('npm', ['pack', '--silent', '--pack-destination', directory], {
    cwd: copy,
  });
  const user = path.join(directory, 'user');
  fs.mkdirSync(user);
  fs.writeFileSync(path.join(user, 'package.json'), '{}');
  const file = path.join(directory, output.trim().split('\n').at(-1) ?? '');
  await runOrThrow('npm', ['install', '--silent', '--ignore-scripts', file], {
    cwd: user,
  });
  causeway = path.join(user, 'node_modules', '.bin', 'causeway');
});
/** The clone's dependencies, with the copy's own packages in place of the clone's. */
function linkDependencies(copy: string): void {
  const installed = path.join(root, 'node_modules');
  const linked = path.join(copy, 'node_modules');
  fs.mkdirSync(path.join(linked, '@causeway'), { recursive: true });
  for (const name of fs.readdirSync(installed)) {
    if (name !== '@causeway') fs.symlinkSync(path.join(installed, name), path.join(linked, name));
  }
  for (const name of fs.readdirSync(path.join(copy, 'packages'))) {
    fs.symlinkSync(path.join(copy, 'packages', name), path.join(linked, '@causeway', name));
  }
}

afterAll(async () => {
  await removeDirectory(directory);
});

test('the package runs compiled, without sources and tests', async () => {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect((await runOrThrow(causeway, ['--version'])).trim()).toBe(version);
  const home = path.join(directory, 'user', 'node_modules', 'causeway');
  const files = fs.readdirSync(home, { recursive: true }).map(String);
  expect(files.filter((file) => file.endsWith('.ts') || file.includes('.test.'))).toEqual([]);
  expect(files).toContain('dist/causeway/src/console/dashboard/pages/main.js');
  expect(files).toContain('sbom.cdx.json');
  expect(
    fs.readFileSync(
      path.join(home, 'dist/causeway/src/console/dashboard/pages/index.html'),
      'utf8',
    ),
  ).toContain('"/main.js"');
});

test('its playground starts', async () => {
  const file = path.join(directory, 'ready.json');
  const child = spawn(causeway, ['playground', '--datapath', 'memory', '--ready-file', file]);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    await waitFor('the ready file', () => fs.existsSync(file));
  } finally {
    child.kill('SIGTERM');
  }
  expect(await exited).toBe(0);
});
