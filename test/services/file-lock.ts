import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './scratch.ts';

/** Runs the work while holding a lock file. The lock of an ended process is taken over. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  await fs.mkdir(path.dirname(file), { recursive: true });
  while (!(await tryLock(file))) await delay(200);
  try {
    return await work();
  } finally {
    await fs.rm(file, { force: true });
  }
}

async function tryLock(file: string): Promise<boolean> {
  try {
    await fs.writeFile(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const holder = Number(await fs.readFile(file, 'utf8').catch(() => ''));
  if (holder > 0 && !isAlive(holder)) await fs.rm(file, { force: true });
  return false;
}
