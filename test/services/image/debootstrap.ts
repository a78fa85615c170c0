import fs from 'node:fs/promises';
import path from 'node:path';
import { MissingError } from '../missing.ts';
import { runOrThrow, runProgram } from '../run-program.ts';

/**
 * The files of a small Debian, of the same release as this machine, with these packages. `tools` contains
 * debootstrap.
 */
export async function makeDebian(
  tools: string,
  target: string,
  packages: readonly string[],
): Promise<void> {
  const system = await fs.readFile('/etc/os-release', 'utf8');
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(system)?.[1];
  if (suite === undefined) throw new MissingError('base images are made on Debian only');
  const sites = await runOrThrow('apt-get', ['indextargets', '--format', '$(SITE)']);
  const site = sites.split('\n')[0] ?? '';
  await fs.mkdir(target, { recursive: true });
  const made = await runProgram(
    'unshare',
    [
      ...['--mount', '--propagation', 'private', 'bash', path.join(tools, 'usr/sbin/debootstrap')],
      ...['--variant=minbase', `--include=${packages.join()}`, suite, target, site],
    ],
    {
      env: { DEBOOTSTRAP_DIR: path.join(tools, 'usr/share/debootstrap') },
      timeoutMs: 1_800_000,
    },
  );
  if (made.code !== 0) throw new MissingError(`debootstrap failed: ${made.stdout.slice(-500)}`);
  const unwanted = ['var/cache/apt/archives', 'var/lib/apt/lists', 'dev', 'proc', 'sys'];
  const texts = ['doc', 'man', 'locale'].map((name) => `usr/share/${name}`);
  for (const name of [...unwanted, ...texts]) await empty(path.join(target, name));
}

async function empty(directory: string): Promise<void> {
  for (const name of await fs.readdir(directory).catch((): string[] => [])) {
    await fs.rm(path.join(directory, name), { recursive: true, force: true });
  }
}
