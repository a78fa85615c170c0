import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const prefix = 'causeway-test-';
let swept: Promise<void> | undefined;

/** A directory of this process. The first call removes leftovers of killed processes. */
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
    // A directory that can't be removed (because of a mount) must not fail other tests.
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
