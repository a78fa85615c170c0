import { withFileLock } from './file-lock.ts';
import { cacheDirectory } from './cache-directory.ts';
import { MissingError } from './missing.ts';
import { runProgram } from './run-program.ts';

/** Makes sure that Debian packages are installed; installs missing ones if this user may. */
export async function ensureDebianPackages(names: readonly string[]): Promise<void> {
  const missing = await missingPackages(names);
  if (missing.length === 0) return;
  const line = `Debian packages are missing: apt-get install ${missing.join(' ')}`;
  if (process.getuid?.() !== 0) throw new MissingError(line);
  await withFileLock(cacheDirectory('apt.lock'), async () => {
    const still = await missingPackages(names);
    if (still.length === 0) return;
    process.stderr.write(`Installing Debian packages: ${still.join(' ')}\n`);
    await runProgram('apt-get', ['update', '-q'], { timeoutMs: 300_000 });
    const install = await runProgram(
      'apt-get',
      ['install', '-y', '-q', '--no-install-recommends', ...still],
      { env: { DEBIAN_FRONTEND: 'noninteractive' }, timeoutMs: 900_000 },
    );
    if (install.code !== 0) {
      throw new MissingError(`${line} (failed: ${install.stderr.trim().split('\n').at(-1)})`);
    }
  });
}

async function missingPackages(names: readonly string[]): Promise<string[]> {
  const query = await runProgram('dpkg-query', [
    '--show',
    '--showformat=${Package} ${db:Status-Status}\\n',
    ...names,
  ]).catch(() => {
    throw new MissingError(
      `these Debian packages are needed and dpkg is missing: ${names.join(' ')}`,
    );
  });
  const installed = new Set(
    query.stdout
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((line) => line.split(' ')[0]),
  );
  return names.filter((name) => !installed.has(name));
}
