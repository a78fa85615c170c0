import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReadyFile } from '../../src/playground/ready-file.ts';
import { ensureDebianPackages } from '../services/debian-packages.ts';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import { runOrThrow, runProgram } from '../services/run-program.ts';
import { isAlive, removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { waitFor } from '../services/wait-for.ts';

const root = path.join(import.meta.dirname, '..', '..');
const launcher = path.join(root, 'bin', 'causeway.js');
const prepare = async () => {
  await ensureDebianPackages(['conntrack', 'curl', 'iproute2', 'keepalived', 'nftables', 'procps']);
  await ensureProgram('kubectl');
};

describe.runIf(await isAvailable(prepare))('a playground in which packets flow', () => {
  let directory = '';
  let kubectl = '';
  let child: ChildProcess;
  let exited: Promise<number | null>;
  let ready: ReadyFile;

  beforeEach(async () => {
    directory = await scratchDirectory('playground');
    kubectl = await ensureProgram('kubectl');
  });
  afterEach(async () => {
    child.kill('SIGTERM');
    await exited;
    await removeDirectory(directory);
  });

  const start = async (...words: string[]) => {
    const file = path.join(directory, 'ready.json');
    fs.rmSync(file, { force: true });
    child = spawn(process.execPath, [launcher, 'playground', '--ready-file', file, ...words], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    exited = new Promise((resolve) => child.once('exit', resolve));
    const text = await waitFor('the ready file', () => {
      if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`);
      return fs.existsSync(file) && fs.readFileSync(file, 'utf8');
    });
    ready = JSON.parse(text) as ReadyFile;
    expect(ready.datapath).toBe('kernel');
  };
  const ask = (...args: string[]) =>
    runOrThrow(kubectl, args, { env: { KUBECONFIG: ready.kubeconfig } });
  const within = (exec: readonly string[] = [], ...command: string[]) => {
    const [program = '', ...words] = [...exec, ...command];
    return runProgram(program, words);
  };
  const read = (namespace: string, service: string, path: string) =>
    ask('get', 'service', service, '-n', namespace, '-o', `jsonpath={${path}}`);
  const addressOf = (namespace: string, service: string) =>
    waitFor(`the address of ${service}`, async () => {
      const address = await read(namespace, service, '.status.loadBalancer.ingress[0].ip');
      return address === '' ? undefined : address;
    });
  const fetchWithin = (exec: readonly string[] | undefined, address: string) =>
    waitFor(`an answer from ${address}`, async () => {
      const { code, stdout } = await within(exec, 'curl', '-sm', '5', address);
      return code === 0 && stdout;
    });
  const fetchFrom = (address: string) => fetchWithin(ready.client?.exec, address);
  const processesOn = async (machine: { readonly netns: string }) => {
    const { stdout } = await runProgram('ip', ['netns', 'pids', machine.netns]);
    return stdout.split('\n').filter(Boolean).map(Number);
  };
  const leftovers = async () => {
    const { stdout } = await runProgram('ip', ['netns', 'list']);
    const prefix = ready.client?.netns.split('-')[0] ?? '?';
    return stdout.split('\n').filter((line) => line.startsWith(`${prefix}-`));
  };

  test('serves a Service, survives a gateway, wakes, discovers, and leaves nothing behind', async () => {
    await start('--scenario', path.join(root, 'examples/scenarios/shop.yaml'));
    const address = await addressOf('shop', 'web');
    // Straight from the client: the pod sees its own address.
    expect(await fetchFrom(address)).toMatch(/^web-\S+ saw 198\.51\.100\.10:\d+\n$/);
    const [node] = ready.nodes ?? [];
    const inside = await read('shop', 'web', '.spec.clusterIP');
    expect(await fetchWithin(node?.exec, inside)).toContain('saw 192.168.50.21');
    const holders = async () => {
      const found: NonNullable<ReadyFile['gateways']>[number][] = [];
      for (const gateway of ready.gateways ?? []) {
        const { stdout } = await within(gateway.exec, 'ip', '-4', '-o', 'address', 'show', 'int');
        if (stdout.includes('192.168.50.1/')) found.push(gateway);
      }
      return found.length === 1 ? found[0] : undefined;
    };
    const before = await waitFor('a master', holders);
    await within(before.exec, 'ip', 'link', 'set', 'ext', 'down');
    await waitFor('the other one to take over', async () => {
      const now = await holders();
      return now !== undefined && now.name !== before.name;
    });
    expect(await fetchFrom(address)).toContain('saw 198.51.100.10');
    const killed = await processesOn(before);
    for (const pid of killed) {
      // One may end by itself because another did.
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
    await within(before.exec, 'ip', 'link', 'set', 'ext', 'up');
    await waitFor('the gateway to come back', async () => {
      const now = await processesOn(before);
      return now.filter((pid) => !killed.includes(pid)).length > 1;
    });
    expect(await fetchFrom(address)).toContain('saw 198.51.100.10');
    const idle = [launcher, 'idle', '-n', 'shop', 'web', '--kubeconfig', ready.kubeconfig];
    await runOrThrow(process.execPath, idle);
    await waitFor(
      'all pods to be gone',
      async () => (await ask('get', 'pods', '-n', 'shop', '--no-headers')) === '',
    );
    expect(await fetchFrom(address)).toMatch(/^web-\S+ saw /);
    await waitFor('what was discovered', async () =>
      (await ask('get', 'services', '-A', '-l', 'causeway.dev/backend')).includes('erp'),
    );
    const dashboard = new URL(ready.dashboard?.url ?? '');
    expect((await fetch(dashboard, { redirect: 'manual' })).status).toBe(303);
    child.kill('SIGINT');
    expect(await exited).toBe(0);
    expect(await leftovers()).toEqual([]);
    expect(fs.existsSync(path.dirname(ready.kubeconfig))).toBe(false);
  });

  test('after a kill the next one sweeps what it left', async () => {
    await start();
    const pid = Number(/\d+$/.exec(path.dirname(ready.kubeconfig))?.[0]);
    process.kill(pid, 'SIGKILL');
    await exited;
    expect(await leftovers()).not.toEqual([]);
    const first = ready;
    await start();
    const second = ready;
    ready = first;
    expect(await leftovers()).toEqual([]);
    expect(fs.existsSync(path.dirname(first.kubeconfig))).toBe(false);
    ready = second;
  });
});
