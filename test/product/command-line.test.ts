import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

const launcher = path.join(import.meta.dirname, '..', '..', 'bin', 'causeway.js');
const causeway = (...args: string[]) => runProgram(process.execPath, [launcher, ...args]);

test('--version and --help end with code 0', async () => {
  expect(await causeway('--version')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
  const help = await causeway('--help');
  expect(help.code).toBe(0);
  expect(help.stdout).toContain('Usage: causeway');
  expect(help.stdout).toContain('completion');
});

test('npx in a clone prints no warning, with any Node that starts it', async () => {
  const root = path.dirname(path.dirname(launcher));
  const { code, stdout, stderr } = await runProgram('npx', ['causeway', '--version'], {
    cwd: root,
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+/) });
  expect(stderr).not.toContain('EBADENGINE');
});

test('an unknown command is a usage error with the nearest known one', async () => {
  const result = await causeway('completoin', 'bash');
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('Did you mean completion?');
});

test('every command names its own help after a usage error', async () => {
  const result = await causeway('gateways', 'fence', '--wrong');
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('(see causeway gateways fence --help)');
});

test('output that is not a terminal has no colors', async () => {
  const result = await causeway('--help');
  expect(result.stdout).not.toContain('\u001B[');
});

test('an error in the settings names its place and the probable fix', async () => {
  const directory = await scratchDirectory('settings');
  const file = path.join(directory, 'controller.yaml');
  await fs.writeFile(file, 'gateway:\n  enabled: true\n  adresses: [192.0.2.0/24]\n');
  const result = await causeway('controller', '--config', file);
  await removeDirectory(directory);
  expect(result.code).toBe(3);
  expect(result.stderr).toContain(
    `${file}:3: gateway.adresses: unknown key; did you mean addresses?`,
  );
});
