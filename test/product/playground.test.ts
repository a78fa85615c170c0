import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import { runOrThrow, runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { waitFor } from '../services/wait-for.ts';
import {
  addressOf,
  kubectlFor,
  launcher,
  startPlayground,
  untilGone,
  type RunningPlayground,
} from './running-playground.ts';
import { listen } from '../../packages/base/src/network/listen.ts';

// Whole playgrounds start here, also on a busy machine.
vi.setConfig({ testTimeout: 400_000 });
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

const start = async (stale?: string): Promise<RunningPlayground> => {
  const words = ['--datapath', 'memory'];
  playground = await startPlayground({
    directory,
    words,
    ...(stale === undefined ? {} : { stale }),
  });
  return playground;
};

test.skipIf(!hasKubectl)(
  'runs completely in memory, and Ctrl-C leaves nothing behind',
  async () => {
    // A ready file of an earlier run is not taken for this one.
    const running = await start('{"kubeconfig":"/stale"}');
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
    await ask('rollout', 'status', 'deployment/web', '--timeout=300s');
    expect(await ask('get', 'pods', '--no-headers')).toMatch(/^(web-\S+ +1\/1 +Running .*\n){2}$/);
    // From the embedded cloud's floating IPs, once the gateways serve it.
    const address = await addressOf(ask, 'default', 'web');
    expect(address).toMatch(/^203\.0\.113\.\d+$/);
    expect(fs.readFileSync(ready.openstack.clouds, 'utf8')).toContain('demo');
    expect((await fetch(ready.dashboard.url, { redirect: 'manual' })).status).toBe(303);
    const env = { KUBECONFIG: ready.kubeconfig };
    const tool = (...words: string[]) =>
      runOrThrow(process.execPath, [launcher, ...words], { env });
    const settings = ['--config', path.join(path.dirname(ready.kubeconfig), 'controller.yaml')];
    // The gateways use the fixed address behind the floating one. Both serve its pods, one after the other.
    await waitFor('both gateways to lead to its pods', async () => {
      const traced = await tool('trace', '198.51.100.10', `${address}:80`, ...settings);
      expect(traced).toContain(
        `${address}:80/TCP is the load balancer address of Service default/web.`,
      );
      expect(traced).toMatch(
        /gateway-[ab] \(active\): 10\.10\.\S+:80\/TCP goes to 10\.244\.\S+:8080 \(web-\S+\)/,
      );
      expect(traced).toMatch(/gateway-[ab] \(standby\): the same\.\n$/);
      return true;
    });
    const short = await tool('trace', '198.51.100.10', `${address}:80`);
    expect(short).toContain("No gateway was asked: name the controller's settings with --config.");
    await waitFor('gateway-b to be shown', async () =>
      /gateway-b +yes .*\d{5,} +yes +1 /.test(await tool('gateways', ...settings)),
    );
    const inside = await ask('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
    const onNode = await tool('trace', '10.244.2.9', `${inside}:80`, ...settings);
    expect(onNode).toMatch(/On node-2, .* may go to 10\.244\.\S+:8080, which sees the client/);
    expect(onNode).toMatch(/ {4}services +.*vmap @services4/);
    expect(onNode).not.toContain('fd00:');
    const ipam = ['--server', ready.ipam.url, '--token-file', ready.ipam.tokenFile];
    expect(await tool('pools', ...ipam)).toMatch(/playground\/first +·+ 0 % .* 192\.0\.2\.0\/24/);
    running.kill('SIGINT');
    expect(await running.exited).toBe(0);
    await untilGone(running);
    expect(fs.readdirSync(directory)).toEqual([]);
  },
);

test('the next run cleans up after a killed one; it stops when only the launcher is killed', async () => {
  const first = await start();
  const left = path.dirname(first.ready.kubeconfig);
  process.kill(first.mainPid, 'SIGKILL');
  await first.exited;
  expect(fs.existsSync(left)).toBe(true);
  const second = await start();
  expect(fs.existsSync(left)).toBe(false);
  await untilGone(first);
  second.kill('SIGKILL');
  await waitFor(
    'the playground to clean up',
    () => !fs.existsSync(path.dirname(second.ready.kubeconfig)),
  );
  await untilGone(second);
});

test('a controller that ends, for example after it lost its lease, is restarted', async () => {
  const running = await start();
  const controller = async () => {
    const children = await runOrThrow('ps', ['-o', 'pid=,args=', '--ppid', `${running.mainPid}`]);
    const line = children.split('\n').find((each) => / controller --config /.test(each));
    return line === undefined ? undefined : Number.parseInt(line, 10);
  };
  const before = await controller();
  process.kill(before ?? Number.NaN, 'SIGKILL');
  await waitFor('another controller', async () => {
    const now = await controller();
    return now !== undefined && now !== before;
  });
  await waitFor('its dashboard', async () => {
    const answer = await fetch(running.ready.dashboard.url, { redirect: 'manual' });
    return answer.status === 303;
  });
});

const playgroundWith = (...args: string[]) =>
  runProgram(process.execPath, [launcher, 'playground', '--datapath', 'memory', ...args]);

test("a ready file that can't be written ends it at once, with the reason", async () => {
  const result = await playgroundWith('--ready-file', path.join(directory, 'none', 'ready.json'));
  expect(result.code).toBe(3);
  expect(result.stderr).toContain("can't be written (ENOENT)");
});

test('a port in use is reported', async () => {
  const server = net.createServer();
  const port = await listen(server);
  const result = await playgroundWith('--port', String(port));
  server.close();
  expect(result.code).toBe(6);
  expect(result.stderr).toBe(
    `causeway: --port: ${port} is in use by another process\n` +
      '  Choose another one, or omit --port to use a free one.\n',
  );
});
