import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReadyFile } from '../../packages/causeway/src/playground/ready-file.ts';
import { ensureDebianPackages } from '../services/debian-packages.ts';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import { runOrThrow, runProgram } from '../services/run-program.ts';
import { isAlive, removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { waitFor } from '../services/wait-for.ts';
import {
  addressOf,
  fetchFrom,
  kubectlFor,
  launcher,
  repository,
  startPlayground,
  untilGone,
  type RunningPlayground,
} from './running-playground.ts';

const packages = ['conntrack', 'curl', 'iproute2', 'keepalived', 'nftables', 'procps'];
const prepare = async () => {
  await ensureDebianPackages([...packages, 'util-linux']);
  await ensureProgram('kubectl');
};
const shop = ['--scenario', path.join(repository, 'examples/scenarios/shop.yaml')];

describe.runIf(await isAvailable(prepare))('a playground with real packets', () => {
  let directory = '';
  let kubectl = '';
  let playground: RunningPlayground;

  beforeEach(async () => {
    directory = await scratchDirectory('playground');
    kubectl = await ensureProgram('kubectl');
  });
  afterEach(async () => {
    playground.kill('SIGTERM');
    await playground.exited;
    await removeDirectory(directory);
  });

  const start = async (words: readonly string[], isUnprivileged = false) => {
    playground = await startPlayground({ directory, words, isUnprivileged });
    expect(playground.ready.datapath).toBe('kernel');
  };
  const leftovers = async ({ mainPid }: RunningPlayground) => {
    const { stdout } = await runProgram('ip', ['netns', 'list']);
    return stdout.split('\n').filter((line) => line.startsWith(`cwplay${mainPid}-`));
  };

  test('cleans up after a killed one, serves, survives a gateway, wakes, discovers, leaves nothing', async () => {
    await start([]);
    const killed = playground;
    process.kill(killed.mainPid, 'SIGKILL');
    await killed.exited;
    expect(await leftovers(killed)).not.toEqual([]);
    await start(shop);
    expect(await leftovers(killed)).toEqual([]);
    expect(fs.existsSync(path.dirname(killed.ready.kubeconfig))).toBe(false);
    const { ready } = playground;
    const ask = kubectlFor(kubectl, playground);
    const address = await addressOf(ask, 'shop', 'web');
    // Directly from the client: the pod sees its own address.
    expect(await fetchFrom(playground, ready.client, address)).toMatch(
      /^web-\S+ saw 198\.51\.100\.10:\d+\n$/,
    );
    const wanted = 'jsonpath={.spec.clusterIP}';
    const inside = await ask('get', 'service', 'web', '-n', 'shop', '-o', wanted);
    for (const [index, node] of ready.nodes.entries()) {
      expect(await fetchFrom(playground, node, inside)).toContain(`saw 192.168.50.2${index + 1}`);
    }
    const patch = JSON.stringify({ spec: { ipFamilyPolicy: 'RequireDualStack' } });
    await ask('patch', 'service', 'web', '-n', 'shop', '--type=merge', '-p', patch);
    const six = await addressOf(ask, 'shop', 'web', 1);
    expect(await fetchFrom(playground, ready.client, six)).toMatch(
      /^web-\S+ saw \[2001:db8:51::10\]:\d+\n$/,
    );
    const insideSix = await ask(
      ...['get', 'service', 'web', '-n', 'shop', '-o', 'jsonpath={.spec.clusterIPs[1]}'],
    );
    expect(await fetchFrom(playground, ready.nodes[0] ?? ready.client, insideSix)).toContain(
      'saw [fd00:50::21]',
    );
    const holders = async () => {
      const found: ReadyFile['gateways'][number][] = [];
      for (const gateway of ready.gateways) {
        const show = ['ip', '-4', '-o', 'address', 'show', 'int'];
        const { stdout } = await playground.run(gateway.exec, ...show);
        if (stdout.includes('192.168.50.1/')) found.push(gateway);
      }
      return found.length === 1 ? found[0] : undefined;
    };
    const before = await waitFor('an active gateway', holders);
    await playground.run(before.exec, 'ip', 'link', 'set', 'ext', 'down');
    await waitFor('the other one to take over', async () => {
      const now = await holders();
      return now !== undefined && now.name !== before.name;
    });
    expect(await fetchFrom(playground, ready.client, address)).toContain('saw 198.51.100.10');
    expect(await fetchFrom(playground, ready.client, six)).toContain('saw [2001:db8:51::10]');
    const pids = async () => {
      const { stdout } = await runProgram('ip', ['netns', 'pids', before.netns ?? '']);
      return stdout.trim().split('\n').filter(Boolean).map(Number);
    };
    const dead = await pids();
    for (const pid of dead) {
      // One may end because another did.
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
    await playground.run(before.exec, 'ip', 'link', 'set', 'ext', 'up');
    await waitFor('the gateway to come back', async () => {
      const now = await pids();
      return now.filter((pid) => !dead.includes(pid)).length > 1;
    });
    expect(await fetchFrom(playground, ready.client, address)).toContain('saw 198.51.100.10');
    const idle = [launcher, 'idle', '-n', 'shop', 'web', '--kubeconfig', ready.kubeconfig];
    await runOrThrow(process.execPath, idle);
    await waitFor(
      'all pods to be gone',
      async () => (await ask('get', 'pods', '-n', 'shop', '--no-headers')) === '',
    );
    expect(await fetchFrom(playground, ready.client, address)).toMatch(/^web-\S+ saw /);
    await waitFor('what was discovered', async () =>
      (await ask('get', 'services', '-A', '-l', 'causeway.dev/backend')).includes('erp'),
    );
    const dashboard = new URL(ready.dashboard.url);
    expect((await fetch(dashboard, { redirect: 'manual' })).status).toBe(303);
    playground.kill('SIGINT');
    expect(await playground.exited).toBe(0);
    expect(await leftovers(playground)).toEqual([]);
    expect(fs.existsSync(path.dirname(ready.kubeconfig))).toBe(false);
  });

  test('needs no root: an unprivileged user can use all of it, and nothing is left, even after a kill', async () => {
    await start([], true);
    const first = playground;
    process.kill(first.mainPid, 'SIGKILL');
    await first.exited;
    await start(shop, true);
    await untilGone(first);
    expect(fs.existsSync(path.dirname(first.ready.kubeconfig))).toBe(false);
    const { ready } = playground;
    const address = await addressOf(kubectlFor(kubectl, playground), 'shop', 'web');
    expect(await fetchFrom(playground, ready.client, address)).toMatch(
      /^web-\S+ saw 198\.51\.100\.10:\d+\n$/,
    );
    for (const { exec } of [...ready.gateways, ...ready.nodes]) {
      await waitFor('its table', async () => {
        const { stdout } = await playground.run(exec, 'nft', 'list', 'tables');
        return stdout.includes('causeway');
      });
    }
    playground.kill('SIGINT');
    expect(await playground.exited).toBe(0);
    await untilGone(playground);
    expect(fs.existsSync(path.dirname(ready.kubeconfig))).toBe(false);
  });
});
