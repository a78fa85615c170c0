import fs from 'node:fs/promises';
import path from 'node:path';
import { isAlive } from '../services/scratch.ts';
import { runOrThrow, runProgram } from '../services/run-program.ts';

const size = '8m';

/** Mounts a directory that is small enough to be filled quickly. */
export async function mountSmallDisk(directory: string): Promise<void> {
  await fs.mkdir(directory, { recursive: true });
  const options = `size=${size},mode=0700`;
  await runOrThrow('mount', ['-t', 'tmpfs', '-o', options, 'causeway-chaos', directory]);
}

export async function unmountSmallDisk(directory: string): Promise<void> {
  // Processes keep their open files until they end.
  await runProgram('umount', ['--lazy', directory]);
}

/** Writes until the disk is full. */
export async function fillDisk(directory: string): Promise<void> {
  const file = await fs.open(path.join(directory, 'ballast'), 'w');
  const block = Buffer.alloc(64 * 1024);
  try {
    for (;;) await file.write(block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
}

export async function clearDisk(directory: string): Promise<void> {
  await fs.rm(path.join(directory, 'ballast'), { force: true });
}

/** Unmounts the disks of a run that was killed. */
export async function unmountStaleDisks(): Promise<void> {
  const mounts = await fs.readFile('/proc/mounts', 'utf8');
  for (const line of mounts.split('\n').filter((each) => each.startsWith('causeway-chaos '))) {
    const directory = line.split(' ')[1] ?? '';
    const owner = /causeway-test-(\d+)-/.exec(directory)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) await unmountSmallDisk(directory);
  }
}
