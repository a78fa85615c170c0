import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const prefix = 'causeway-playground-';

/**
 * A directory for this playground's files, named after the process. Those of playgrounds that were
 * killed before they could clean up are removed first.
 */
export async function makePlaygroundDirectory(base = os.tmpdir()): Promise<string> {
  for (const entry of await fs.readdir(base)) {
    const owner = new RegExp(`^${prefix}(\\d+)$`).exec(entry)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    await fs.rm(path.join(base, entry), { recursive: true, force: true });
  }
  const directory = path.join(base, `${prefix}${process.pid}`);
  await fs.rm(directory, { recursive: true, force: true });
  await fs.mkdir(directory, { mode: 0o700 });
  return directory;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
