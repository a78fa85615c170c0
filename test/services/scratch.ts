import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const prefix = 'causeway-test-';
let swept: Promise<void> | undefined;

/**
 * A directory that belongs to this process. What processes that were killed left behind is removed
 * the first time one is asked for.
 */
export async function scratchDirectory(name: string): Promise<string> {
  swept ??= sweepStaleScratch();
  await swept;
  return fs.mkdtemp(path.join(os.tmpdir(), `${prefix}${process.pid}-${name}-`));
}

export async function removeDirectory(directory: string): Promise<void> {
  await fs.rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

async function sweepStaleScratch(): Promise<void> {
  for (const entry of await fs.readdir(os.tmpdir())) {
    const owner = new RegExp(`^${prefix}(\\d+)-`).exec(entry)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    // What can't be removed (something is mounted in it) is no reason for other tests to fail.
    await removeDirectory(path.join(os.tmpdir(), entry)).catch(() => {});
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
