import fs from 'node:fs/promises';
import path from 'node:path';
import { MissingError } from '../missing.ts';
import { isAlive } from '../scratch.ts';
import { waitFor } from '../wait-for.ts';

const mountPoint = '/sys/fs/cgroup';
const prefix = 'causeway-test-';
/** Hierarchies of version 1 that the kubelet uses, and the one of version 2 that runc uses too. */
const hierarchies = [
  ...['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'systemd'],
  'unified',
];

/**
 * Without this, all pods together would get no more of the processors than a single process outside, and
 * those of a busy machine would wait for seconds: a test would then measure the machine.
 */
const shares = 16 * 1024;
const sharesFile = ([cluster = '']: readonly string[]) =>
  path.join(mountPoint, 'cpu', cluster, 'cpu.shares');

/** Name above the control groups of everything that a cluster of this process runs. */
export const cgroupName = (id: string) => `${prefix}${process.pid}-${id}`;

export async function requireCgroups(): Promise<void> {
  const found = await present();
  if (!found.includes('memory') || !found.includes('pids')) {
    throw new MissingError(
      'the real cluster needs control groups of version 1 (/sys/fs/cgroup/memory); version 2 has not been tested',
    );
  }
}

export async function makeCgroups(...names: string[]): Promise<void> {
  for (const hierarchy of await present()) {
    const directory = path.join(mountPoint, hierarchy, ...names);
    await fs.mkdir(directory, { recursive: true });
    if (hierarchy === 'cpuset') await fillCpuset(names);
    if (hierarchy === 'cpu') await fs.writeFile(sharesFile(names), String(shares));
  }
}

/** A new cpuset is empty, and nothing runs in it until it is filled, from the top. */
async function fillCpuset(names: readonly string[]): Promise<void> {
  const top = path.join(mountPoint, 'cpuset');
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const value = await fs.readFile(path.join(top, file), 'utf8');
    for (let depth = 1; depth <= names.length; depth += 1) {
      await fs.writeFile(path.join(top, ...names.slice(0, depth), file), value.trim());
    }
  }
}

/** Resolves when they are deleted; ending processes keep them for a moment. */
export async function removeCgroups(...names: string[]): Promise<void> {
  for (const hierarchy of await present()) {
    const directory = path.join(mountPoint, hierarchy, ...names);
    await waitFor(`${directory} to be removed`, () => removeTree(directory));
  }
}

/** Removes those of killed processes. */
export async function sweepCgroups(): Promise<void> {
  for (const hierarchy of await present()) {
    for (const entry of await fs.readdir(path.join(mountPoint, hierarchy))) {
      const owner = new RegExp(`^${prefix}(\\d+)-`).exec(entry)?.[1];
      if (owner === undefined || isAlive(Number(owner))) continue;
      await removeCgroups(entry);
    }
  }
}

async function present(): Promise<string[]> {
  const found = await fs.readdir(mountPoint).catch((): string[] => []);
  return hierarchies.filter((name) => found.includes(name));
}

/** From the bottom: a control group can be deleted when it has neither children nor processes. */
async function removeTree(directory: string): Promise<boolean> {
  const entries = await fs.readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return true;
  for (const entry of entries) {
    if (entry.isDirectory()) await removeTree(path.join(directory, entry.name));
  }
  return fs.rmdir(directory).then(
    () => true,
    () => false,
  );
}
