import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { cacheDirectory } from './cache-directory.ts';
import { ensureDebianPackages } from './debian-packages.ts';
import { withFileLock } from './file-lock.ts';
import { makeDebian } from './image/debootstrap.ts';
import { MissingError } from './missing.ts';
import { descendantsOf } from './process-tree.ts';
import { runOrThrow, runProgram, type ProgramResult } from './run-program.ts';
import { removeDirectory, scratchDirectory } from './scratch.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';
import { unpackDebianPackages } from './unpacked-packages.ts';
import { HopelessError, waitFor } from './wait-for.ts';

/** The oldest supported Node to start with, and its npm. */
const node = { version: '20.19.0', npm: '10.8.2' };
const packages = ['ca-certificates', 'curl', 'git'];
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/** User of the machine. */
export type MachineUser = 'root' | 'somebody';

/**
 * A freshly installed machine: a small Debian with git, curl and Node, which shares only the network, the
 * name servers and the package sources of this one. All changes are removed with it.
 */
export class FreshMachine {
  readonly #directory: string;
  readonly #holder: ServiceProcess;
  readonly #pid: number;
  readonly #registry: string;

  private constructor(directory: string, holder: ServiceProcess, pid: number, registry: string) {
    this.#directory = directory;
    this.#holder = holder;
    this.#pid = pid;
    this.#registry = registry;
  }

  /** Gets the parts of a machine: takes minutes the first time. */
  static async prepare(): Promise<string> {
    if (process.getuid?.() !== 0) throw new MissingError('a fresh machine needs root');
    await ensureDebianPackages(['mount', 'util-linux']);
    const recipe = JSON.stringify([node, packages]);
    const key = createHash('sha256').update(recipe).digest('hex').slice(0, 12);
    const target = cacheDirectory('fresh-machine', key);
    await withFileLock(cacheDirectory('fresh-machine.lock'), async () => {
      if (await exists(target)) return;
      const unfinished = `${target}.unfinished`;
      await fs.rm(unfinished, { recursive: true, force: true });
      await makeDebian(await unpackDebianPackages(['debootstrap']), unfinished, packages);
      await addNode(unfinished);
      await fs.copyFile(authorities, path.join(unfinished, authorities));
      await fs.rename(unfinished, target);
    });
    return target;
  }

  static async boot(): Promise<FreshMachine> {
    const base = await FreshMachine.prepare();
    const directory = await scratchDirectory('fresh');
    for (const name of ['root', 'upper', 'work']) await fs.mkdir(path.join(directory, name));
    const logFile = path.join(directory, 'machine.log');
    const words = ['--mount', '--propagation', 'private', '--pid', '--uts', '--ipc', '--fork'];
    const holder = startServiceProcess(
      'unshare',
      [...words, '--kill-child', 'bash', '-euc', boot, base, directory],
      { logFile },
    );
    const pid = await waitFor('the machine to be up', async () => {
      const log = await fs.readFile(logFile, 'utf8');
      if (!holder.isRunning()) throw new HopelessError(log);
      return log.includes('up\n') && (await descendantsOf(holder.pid))[0];
    });
    const registry = (await runOrThrow('npm', ['config', 'get', 'registry'])).trim();
    const machine = new FreshMachine(directory, holder, pid, registry);
    await machine.run('useradd --create-home --shell /bin/bash somebody');
    return machine;
  }

  async close(): Promise<void> {
    this.#holder.kill('SIGKILL');
    await this.#holder.exited;
    await removeDirectory(this.#directory);
  }

  /** Path of its file on this machine. */
  file(name: string): string {
    return path.join('/proc', String(this.#pid), 'root', name);
  }

  /** Puts a program into the path of all its users. */
  async install(program: string): Promise<void> {
    const target = this.file(path.join('usr/local/bin', path.basename(program)));
    await fs.copyFile(program, target);
    await fs.chmod(target, 0o755);
  }

  /** The words that run a line like in a login shell. */
  typed(line: string, user: MachineUser = 'root'): [program: string, ...args: string[]] {
    const home = user === 'root' ? '/root' : `/home/${user}`;
    const variables = [
      ...[`HOME=${home}`, `USER=${user}`, 'LANG=C.UTF-8', 'TERM=xterm'],
      `PATH=/usr/local/bin:/usr/bin:/bin${user === 'root' ? ':/usr/local/sbin:/usr/sbin:/sbin' : ''}`,
      ...[`npm_config_registry=${this.#registry}`, `NODE_EXTRA_CA_CERTS=${authorities}`],
    ];
    const as =
      user === 'root' ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups'];
    return [
      ...(['nsenter', '-t', String(this.#pid), '-m', '-p', '-u', '-i', '--'] as const),
      ...['env', '-i', ...variables, ...as, 'bash', '-c', `cd ${home} && ${line}`],
    ];
  }

  attempt(line: string, user?: MachineUser): Promise<ProgramResult> {
    const [program, ...args] = this.typed(line, user);
    return runProgram(program, args, { timeoutMs: 1_200_000 });
  }

  async run(line: string, user?: MachineUser): Promise<string> {
    const { code, stdout, stderr } = await this.attempt(line, user);
    if (code !== 0) throw new Error(`${line}: ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Its processes, without those that keep it running. */
  async processes(): Promise<string[]> {
    const found: string[] = [];
    for (const pid of await descendantsOf(this.#pid)) {
      const words = await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (words !== '' && !words.startsWith('sleep\0')) found.push(words.replaceAll('\0', ' '));
    }
    return found;
  }
}

/**
 * A root of its own, not only a changed one: otherwise no user namespace can be created inside. The first
 * process reaps orphans.
 */
const boot = `
  root=$1/root
  mount -t overlay -o "lowerdir=$0,upperdir=$1/upper,workdir=$1/work" overlay "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs sysfs "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/run"
  for file in hosts resolv.conf; do cat "/etc/$file" > "$root/etc/$file"; done
  hostname fresh
  cd "$root"
  mkdir .before
  pivot_root . .before
  umount -l .before
  rmdir .before
  echo up
  while :; do sleep 1000 & wait $!; done`;

/** Like a tarball of nodejs.org: node and npm below one prefix. */
async function addNode(target: string): Promise<void> {
  const prefix = path.join(target, 'usr/local');
  await unpackPackage(`node-linux-${process.arch}@${node.version}`, `${target}.node`);
  await fs.cp(path.join(`${target}.node`, 'bin/node'), path.join(prefix, 'bin/node'));
  await fs.rm(`${target}.node`, { recursive: true });
  const npm = path.join(prefix, 'lib/node_modules/npm');
  await unpackPackage(`npm@${node.npm}`, npm);
  for (const name of ['npm', 'npx']) {
    const link = path.join(prefix, 'bin', name);
    await fs.symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, link);
    await fs.chmod(link, 0o755);
  }
}

async function unpackPackage(name: string, target: string): Promise<void> {
  await fs.mkdir(target, { recursive: true });
  const archive = (await runOrThrow('npm', ['pack', '--silent', name], { cwd: target })).trim();
  const file = path.join(target, archive);
  await runOrThrow('tar', ['-xzf', file, '-C', target, '--strip-components=1', '--no-same-owner']);
  await fs.rm(file);
}

function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}
