import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { cacheDirectory } from './cache-directory.ts';
import { withFileLock } from './file-lock.ts';
import { MissingError } from './missing.ts';
import { runOrThrow, runProgram } from './run-program.ts';

/**
 * Directory with the files of Debian packages that are not installed: none of their services start, and the
 * machine stays unchanged. Dependencies are not included.
 */
export async function unpackDebianPackages(names: readonly string[]): Promise<string> {
  const key = createHash('sha256').update(names.join()).digest('hex').slice(0, 12);
  const target = cacheDirectory('packages', key);
  if (await exists(target)) return target;
  return withFileLock(cacheDirectory('apt.lock'), async () => {
    if (await exists(target)) return target;
    const unfinished = `${target}.unfinished`;
    await fs.rm(unfinished, { recursive: true, force: true });
    await fs.mkdir(path.join(unfinished, 'archives'), { recursive: true });
    await download(names, path.join(unfinished, 'archives'));
    for (const archive of await fs.readdir(path.join(unfinished, 'archives'))) {
      const file = path.join(unfinished, 'archives', archive);
      await runOrThrow('dpkg-deb', ['--extract', file, unfinished]);
    }
    await fs.rm(path.join(unfinished, 'archives'), { recursive: true });
    await fs.rename(unfinished, target);
    return target;
  });
}

async function download(names: readonly string[], directory: string): Promise<void> {
  const attempt = () =>
    runProgram('apt-get', ['download', '-q', ...names], { cwd: directory, timeoutMs: 600_000 });
  const line = `these Debian packages are needed: ${names.join(' ')}`;
  const first = await attempt().catch(() => {
    throw new MissingError(`${line}, and apt-get is missing`);
  });
  if (first.code === 0) return;
  await runProgram('apt-get', ['update', '-q'], { timeoutMs: 300_000 });
  const second = await attempt();
  if (second.code !== 0) {
    throw new MissingError(`${line} (failed: ${second.stderr.trim().split('\n').at(-1)})`);
  }
}

function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}
