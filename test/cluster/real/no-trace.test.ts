import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAvailable } from '../../services/missing.ts';
import { descendantsOf, runningOf } from '../../services/process-tree.ts';
import { prepareRealCluster } from '../../services/real-cluster/real-cluster.ts';
import { runOrThrow } from '../../services/run-program.ts';

const isRunnable = await isAvailable(prepareRealCluster);

interface RunningProgram {
  readonly child: ChildProcess;
  /** Directory of the cluster's files. */
  readonly directory: string;
}

async function startOneNode(): Promise<RunningProgram> {
  const program = path.join(import.meta.dirname, 'programs', 'one-node.ts');
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const chunk of child.stdout) {
    const directory = String(chunk).trim();
    if (directory.startsWith('/')) return { child, directory };
  }
  throw new Error('the cluster did not start');
}

/** Processes with the directory in their arguments. */
async function processesOf(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await fs.readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const words = await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (words.includes(directory)) found.push(words.replaceAll('\0', ' '));
  }
  return found;
}

async function cgroupsOf(pid: number | undefined): Promise<string[]> {
  const found: string[] = [];
  for (const hierarchy of await fs.readdir('/sys/fs/cgroup')) {
    const names = await fs.readdir(`/sys/fs/cgroup/${hierarchy}`).catch((): string[] => []);
    found.push(...names.filter((name) => name.startsWith(`causeway-test-${pid}-`)));
  }
  return found;
}

/** What a cluster has in its own namespaces, and this machine must not show. */
const sights = async () => ({
  links: await runOrThrow('ip', ['-brief', 'link']),
  rules: await runOrThrow('nft', ['list', 'tables']),
});
const mountsBelow = async (directory: string) =>
  (await fs.readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .filter((line) => line.includes(directory));

const exists = (file: string) =>
  fs.access(file).then(
    () => true,
    () => false,
  );

describe.skipIf(!isRunnable)('a real cluster leaves nothing behind', () => {
  test('ends when its process is killed; the next cluster removes its files, and its own when it stops', async () => {
    const before = await sights();
    const first = await startOneNode();
    expect(await processesOf(first.directory)).not.toEqual([]);
    // Including processes that name no file of it: first processes of machines, pods and their shims.
    const all = await descendantsOf(first.child.pid ?? 0);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    await expect.poll(() => processesOf(first.directory)).toEqual([]);
    await expect.poll(() => runningOf(all)).toEqual([]);
    expect(await mountsBelow(first.directory)).toEqual([]);
    expect(await sights()).toEqual(before);

    const second = await startOneNode();
    expect(await exists(first.directory)).toBe(false);
    expect(await cgroupsOf(first.child.pid)).toEqual([]);
    second.child.stdin?.write('stop\n');
    await once(second.child, 'exit');
    expect(await processesOf(second.directory)).toEqual([]);
    expect(await exists(second.directory)).toBe(false);
    expect(await cgroupsOf(second.child.pid)).toEqual([]);
    expect(await mountsBelow(second.directory)).toEqual([]);
    expect(await sights()).toEqual(before);
  });
});
