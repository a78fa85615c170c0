import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureProductImage } from '../services/image/product-image.ts';
import { isAvailable } from '../services/missing.ts';
import { descendantsOf, runningOf } from '../services/process-tree.ts';
import { ensureProgram } from '../services/programs.ts';
import { prepareRealCluster } from '../services/real-cluster/real-cluster.ts';
import { runOrThrow } from '../services/run-program.ts';
import { HopelessError, waitFor } from '../services/wait-for.ts';

const isRunnable =
  (await isAvailable(prepareRealCluster)) &&
  (await isAvailable(ensureProductImage)) &&
  (await isAvailable(() => ensureProgram('helm')));

const root = path.join(import.meta.dirname, '..', '..');

/**
 * The tests run in order: each continues from the state of the previous one, and uses only the printed text.
 */
describe.skipIf(!isRunnable)('npm run cluster', () => {
  let program: ChildProcess;
  let printed = '';
  let forwarding: ChildProcess | undefined;
  beforeAll(async () => {
    const words = ['scripts/launch.js', 'scripts/cluster.ts'];
    // In its own process group, like a command in a terminal.
    program = spawn(process.execPath, words, { cwd: root, detached: true });
    program.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    program.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await waitFor('the last line', () => {
      if (program.exitCode !== null) throw new HopelessError(printed);
      return printed.includes('Ctrl-C ends all of it');
    });
  });
  afterAll(() => {
    forwarding?.kill();
    program?.kill();
  });

  /** A word of the printed text. */
  const word = (pattern: RegExp) => pattern.exec(printed)?.[1] ?? '';
  const kubeconfig = () => word(/KUBECONFIG=(\S+)/);
  const kubectl = async (...words: string[]) =>
    runOrThrow(await ensureProgram('kubectl'), words, { env: { KUBECONFIG: kubeconfig() } });

  test('its kubeconfig leads to three nodes and to Causeway', async () => {
    expect((await kubectl('get', 'nodes', '-o', 'name')).trim().split('\n')).toHaveLength(3);
    const deployments = await kubectl('get', 'deployments', '-A', '-o', 'name');
    expect(deployments).toContain('causeway-controller');
  });

  test('the suggested commands work: an external client is served', async () => {
    for (const [, line = ''] of printed.matchAll(/^ {2}kubectl ((?:create|expose) .*)$/gm)) {
      await kubectl(...line.split(' '));
    }
    const where = 'jsonpath={.status.loadBalancer.ingress[0].ip}';
    const address = await waitFor(
      'an address',
      async () => (await kubectl('get', 'service', 'web', '-o', where)).trim() || undefined,
    );
    const [nsenter = '', ...words] = word(/^ {2}(nsenter .*?) +#/m).split(' ');
    const asked = words.map((each) => each.replace('ADDRESS', address));
    await expect.poll(() => runOrThrow(nsenter, asked).catch(String)).toContain('web-');
  });

  test('the dashboard is at the printed address', async () => {
    const words = word(/The dashboard: kubectl (.*)/).split(' ');
    const env = { ...process.env, KUBECONFIG: kubeconfig() };
    forwarding = spawn(await ensureProgram('kubectl'), words, { env, stdio: 'ignore' });
    const url = word(/then (http:\S+)/);
    const page = await waitFor('the dashboard', () => fetch(url, { redirect: 'manual' }));
    expect(page.status).toBe(303);
  });

  test('Ctrl-C ends everything without leftovers', async () => {
    const directory = path.dirname(kubeconfig());
    const all = await descendantsOf(program.pid ?? 0);
    const [main] = all;
    // A terminal signals the whole group, and the launcher signals its child again.
    process.kill(-(program.pid ?? 0), 'SIGINT');
    await once(program, 'exit');
    await expect.poll(() => runningOf(all)).toEqual([]);
    await expect(fs.access(directory)).rejects.toThrow();
    const groups = await fs.readdir('/sys/fs/cgroup/memory');
    expect(groups.filter((name) => name.startsWith(`causeway-test-${main}-`))).toEqual([]);
  });
});
