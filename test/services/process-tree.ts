import fs from 'node:fs/promises';
import { waitFor } from './wait-for.ts';

/** All descendants of a process. */
export async function descendantsOf(pid: number): Promise<number[]> {
  const text = await fs.readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  const below = await Promise.all(children.map(descendantsOf));
  return [...children, ...below.flat()];
}

/** Ends processes without a parent, and waits until they have ended. */
export async function endOrphans(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
  await waitFor('orphans to end', async () => (await runningOf(pids)).length === 0);
}

/** Processes that have not ended. */
export async function runningOf(pids: readonly number[]): Promise<number[]> {
  const states = await Promise.all(pids.map(isRunning));
  return pids.filter((_, index) => states[index]);
}

/** A zombie process does not count as running. */
async function isRunning(pid: number): Promise<boolean> {
  const status = await fs.readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return status !== '' && !/^State:\s+Z/m.test(status);
}
