import fs from 'node:fs/promises';
import { waitFor } from './wait-for.ts';

/** The children of a process, theirs, and so on. */
export async function descendantsOf(pid: number): Promise<number[]> {
  const text = await fs.readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  const below = await Promise.all(children.map(descendantsOf));
  return [...children, ...below.flat()];
}

/** Ends processes that have lost their parent, and waits until they are gone. */
export async function endOrphans(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has gone by itself.
    }
  }
  await waitFor('orphans to end', async () => (await runningOf(pids)).length === 0);
}

/** Those that have not ended. */
export async function runningOf(pids: readonly number[]): Promise<number[]> {
  const states = await Promise.all(pids.map(isRunning));
  return pids.filter((_, index) => states[index]);
}

/** One that has ended and waits for somebody to ask how is not running. */
async function isRunning(pid: number): Promise<boolean> {
  const status = await fs.readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return status !== '' && !/^State:\s+Z/m.test(status);
}
