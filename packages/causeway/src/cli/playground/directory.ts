import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const prefix = 'causeway-playground-';

/** Every process of a playground has its directory in this variable, so that all can be found. */
export const markVariable = 'CAUSEWAY_PLAYGROUND';

/**
 * Removes the files of killed playgrounds, and ends their remaining processes. Files of another user can't be
 * removed, and do no harm.
 */
export async function sweepPlaygrounds(
  base = os.tmpdir(),
  user = process.getuid?.(),
): Promise<void> {
  for (const entry of await fs.readdir(base)) {
    const owner = new RegExp(`^${prefix}(\\d+)$`).exec(entry)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    const left = path.join(base, entry);
    if (user !== 0 && (await fs.lstat(left)).uid !== user) continue;
    await endProcessesOf(left);
    await fs.rm(left, { recursive: true, force: true });
  }
}

/** Creates a directory for this playground's files, named after the process. */
export async function makePlaygroundDirectory(base = os.tmpdir()): Promise<string> {
  const directory = path.join(base, `${prefix}${process.pid}`);
  await fs.rm(directory, { recursive: true, force: true });
  await fs.mkdir(directory, { mode: 0o700 });
  return directory;
}

async function endProcessesOf(directory: string): Promise<void> {
  const mark = `${markVariable}=${directory}`;
  for (const entry of await fs.readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(entry)) continue;
    const environment = await fs.readFile(`/proc/${entry}/environ`, 'utf8').catch(() => '');
    if (!environment.split('\0').includes(mark)) continue;
    try {
      process.kill(Number(entry), 'SIGKILL');
    } catch {
      // The process has just ended.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
