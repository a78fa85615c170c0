import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import { runOrThrow, runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { waitFor } from '../services/wait-for.ts';

const launcher = path.join(import.meta.dirname, '..', '..', 'bin', 'causeway.js');
const hasKubectl = await isAvailable(() => ensureProgram('kubectl'));

let directory = '';
let kubectl = '';
let playground: ChildProcess | undefined;

beforeAll(async () => {
  if (hasKubectl) kubectl = await ensureProgram('kubectl');
});
beforeEach(async () => {
  directory = await scratchDirectory('playground');
});
afterEach(async () => {
  playground?.kill('SIGKILL');
  await removeDirectory(directory);
});

async function start(): Promise<{ kubeconfig: string; exited: Promise<number | null> }> {
  const readyFile = path.join(directory, 'ready.json');
  fs.rmSync(readyFile, { force: true });
  const child = spawn(process.execPath, [
    launcher,
    'playground',
    '--datapath',
    'memory',
    '--ready-file',
    readyFile,
  ]);
  playground = child;
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const text = await waitFor(
    'the ready file',
    () => fs.existsSync(readyFile) && fs.readFileSync(readyFile, 'utf8'),
  );
  return { ...(JSON.parse(text) as { kubeconfig: string }), exited };
}

test.skipIf(!hasKubectl)('kubectl works with it, and Ctrl-C leaves nothing behind', async () => {
  const { kubeconfig, exited } = await start();
  const ask = (...args: string[]) => runOrThrow(kubectl, args, { env: { KUBECONFIG: kubeconfig } });
  await ask(
    'create',
    'deployment',
    'web',
    '--image=example.com/web',
    '--port=8080',
    '--replicas=2',
  );
  await ask('expose', 'deployment', 'web', '--port=80', '--target-port=8080');
  await ask('rollout', 'status', 'deployment/web', '--timeout=90s');
  expect(await ask('get', 'pods', '--no-headers')).toMatch(/^(web-\S+ +1\/1 +Running .*\n){2}$/);
  expect(await ask('get', 'service', 'web', '-o', 'jsonpath={.spec.ports[0].port}')).toBe('80');
  playground?.kill('SIGINT');
  expect(await exited).toBe(0);
  expect(fs.existsSync(path.dirname(kubeconfig))).toBe(false);
  expect(fs.readdirSync(directory)).toEqual([]);
});

test('when its launcher is killed it stops by itself', async () => {
  const { kubeconfig } = await start();
  playground?.kill('SIGKILL');
  await waitFor('the playground to clean up', () => !fs.existsSync(path.dirname(kubeconfig)));
});

test('after a kill of the whole thing the next start sweeps what it left', async () => {
  const { kubeconfig } = await start();
  const left = path.dirname(kubeconfig);
  const pid = Number(/\d+$/.exec(left)?.[0]);
  process.kill(pid, 'SIGKILL');
  expect(fs.existsSync(left)).toBe(true);
  const second = await start();
  expect(fs.existsSync(left)).toBe(false);
  playground?.kill('SIGTERM');
  expect(await second.exited).toBe(0);
});

const playgroundWith = (...args: string[]) =>
  runProgram(process.execPath, [launcher, 'playground', '--datapath', 'memory', ...args]);

test('a ready file that cannot be written ends it at once, with the reason', async () => {
  const result = await playgroundWith('--ready-file', path.join(directory, 'none', 'ready.json'));
  expect(result.code).toBe(3);
  expect(result.stderr).toContain("can't be written (ENOENT)");
});

test('a port that is taken is told in words', async () => {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  const result = await playgroundWith('--port', String(port));
  server.close();
  expect(result.code).toBe(6);
  expect(result.stderr).toBe(
    `causeway: --port: ${port} is in use by another process\n` +
      '  Choose another one, or leave --port out to take a free one.\n',
  );
});

test('a ready file of an earlier run is not taken for this one', async () => {
  const readyFile = path.join(directory, 'ready.json');
  fs.writeFileSync(readyFile, '{"kubeconfig":"/stale"}');
  const child = spawn(process.execPath, [
    launcher,
    'playground',
    '--datapath',
    'memory',
    '--ready-file',
    readyFile,
  ]);
  playground = child;
  const text = await waitFor('a fresh ready file', () => {
    const content = fs.existsSync(readyFile) ? fs.readFileSync(readyFile, 'utf8') : '';
    return content !== '' && !content.includes('/stale') && content;
  });
  expect(fs.existsSync((JSON.parse(text) as { kubeconfig: string }).kubeconfig)).toBe(true);
});
