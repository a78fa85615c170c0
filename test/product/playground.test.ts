import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import { runOrThrow, runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { waitFor } from '../services/wait-for.ts';
import {
  addressOf,
  kubectlFor,
  launcher,
  processesOf,
  startPlayground,
  type RunningPlayground,
} from './running-playground.ts';

const hasKubectl = await isAvailable(() => ensureProgram('kubectl'));

let directory = '';
let kubectl = '';
let playground: RunningPlayground | undefined;

beforeAll(async () => {
  if (hasKubectl) kubectl = await ensureProgram('kubectl');
});
beforeEach(async () => {
  directory = await scratchDirectory('playground');
});
afterEach(async () => {
  playground?.kill('SIGTERM');
  await playground?.exited;
  playground = undefined;
  await removeDirectory(directory);
});

const start = async (): Promise<RunningPlayground> => {
  playground = await startPlayground({ directory, words: ['--datapath', 'memory'] });
  return playground;
};

test.skipIf(!hasKubectl)('all of it runs in memory, and Ctrl-C leaves nothing behind', async () => {
  const running = await start();
  const { ready } = running;
  expect(ready).toMatchObject({
    datapath: 'memory',
    client: { netns: null, exec: [] },
    gateways: [
      { name: 'gateway-a', netns: null, exec: [], agent: expect.stringMatching(/^http:/) },
      { name: 'gateway-b', netns: null, exec: [], agent: expect.stringMatching(/^http:/) },
    ],
    nodes: [{ name: 'node-1' }, { name: 'node-2' }],
  });
  const ask = kubectlFor(kubectl, running);
  const image = '--image=example.com/web';
  await ask('create', 'deployment', 'web', image, '--port=8080', '--replicas=2');
  const expose = ['--type=LoadBalancer', '--port=80', '--target-port=8080'];
  await ask('expose', 'deployment', 'web', ...expose);
  await ask('rollout', 'status', 'deployment/web', '--timeout=30s');
  expect(await ask('get', 'pods', '--no-headers')).toMatch(/^(web-\S+ +1\/1 +Running .*\n){2}$/);
  // From the embedded cloud's floating addresses, once the gateways have taken it over.
  expect(await addressOf(ask, 'default', 'web')).toMatch(/^203\.0\.113\.\d+$/);
  const clouds = { OS_CLIENT_CONFIG_FILE: ready.openstack.clouds };
  expect(fs.readFileSync(clouds.OS_CLIENT_CONFIG_FILE, 'utf8')).toContain('demo');
  expect((await fetch(ready.dashboard.url, { redirect: 'manual' })).status).toBe(303);
  const pools = await runOrThrow(process.execPath, [
    ...[launcher, 'ipam', 'pools', 'list', 'playground'],
    ...['--server', ready.ipam.url, '--token-file', ready.ipam.tokenFile],
  ]);
  expect(pools).toContain('192.0.2.0/24');
  running.kill('SIGINT');
  expect(await running.exited).toBe(0);
  expect(await processesOf(running)).toEqual([]);
  expect(fs.readdirSync(directory)).toEqual([]);
});

test('when its launcher is killed it stops by itself', async () => {
  const running = await start();
  running.kill('SIGKILL');
  await waitFor('the playground to clean up', async () => {
    const isGone = !fs.existsSync(path.dirname(running.ready.kubeconfig));
    return isGone && (await processesOf(running)).length === 0;
  });
});

test('after a kill of the whole thing the next start sweeps what it left', async () => {
  const first = await start();
  const left = path.dirname(first.ready.kubeconfig);
  process.kill(first.mainPid, 'SIGKILL');
  await first.exited;
  expect(fs.existsSync(left)).toBe(true);
  const second = await start();
  expect(fs.existsSync(left)).toBe(false);
  expect(await processesOf(first)).toEqual([]);
  second.kill('SIGTERM');
  expect(await second.exited).toBe(0);
});

const playgroundWith = (...args: string[]) =>
  runProgram(process.execPath, [launcher, 'playground', '--datapath', 'memory', ...args], {
    timeoutMs: 20_000,
  });

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
  const words = ['--datapath', 'memory'];
  playground = await startPlayground({ directory, words, stale: '{"kubeconfig":"/stale"}' });
  expect(fs.existsSync(playground.ready.kubeconfig)).toBe(true);
});
