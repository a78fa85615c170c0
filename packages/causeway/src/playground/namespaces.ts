import fs from 'node:fs/promises';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { runProgram } from '@causeway/base/process/run-program';
import type { Machine } from './ready-file.ts';
import { isInUserNamespace } from './user-namespace.ts';

const prefix = 'cwplay';
const directory = '/run/netns';
/** The namespace of the segments. It exists from start to end. */
const hub = 'switch';

/**
 * Machines as network namespaces, joined by segments in a separate namespace, so that nothing appears in the
 * host's own network. Names contain the process id: the next playground removes the remains of a killed one.
 */
export class Namespaces {
  readonly #id: string;
  readonly #machines = new Set<string>();
  #ports = 0;

  private constructor(id: string) {
    this.#id = id;
  }

  static async create(segments: readonly string[]): Promise<Namespaces> {
    await sweep();
    const namespaces = new Namespaces(`${prefix}${process.pid}`);
    await namespaces.add(hub);
    await namespaces.ip(
      hub,
      segments.flatMap((name) => [`link add ${name} type bridge`, `link set ${name} up`]),
    );
    return namespaces;
  }

  /** Name of the machine for `ip netns`. */
  nameOf(machine: string): string {
    return `${this.#id}-${machine}`;
  }

  /** The namespace's file, for setns. */
  pathOf(machine: string): string {
    return `${directory}/${this.nameOf(machine)}`;
  }

  /** A namespace in which a thread can idle without keeping a machine from being removed. */
  get idleNamespace(): string {
    return this.pathOf(hub);
  }

  /** The prefix that makes a command of this process run there. */
  words(machine: string): readonly [string, ...string[]] {
    return ['nsenter', `--net=${this.pathOf(machine)}`];
  }

  /** The location of the machine and its command prefix, for the parent of this process. */
  place(machine: string): Machine {
    const name = this.nameOf(machine);
    if (!isInUserNamespace()) return { netns: name, exec: ['ip', 'netns', 'exec', name] };
    const pid = String(process.pid);
    const netns = `/proc/${pid}/root${this.pathOf(machine)}`;
    const user = ['--target', pid, '--user', '--preserve-credentials'];
    return { netns, exec: ['nsenter', ...user, `--net=${netns}`] };
  }

  async add(machine: string): Promise<void> {
    await addNamespace(this.nameOf(machine));
    this.#machines.add(machine);
    await this.ip(machine, ['link set lo up']);
  }

  /** Runs lines of `ip` on a machine, in one batch. */
  async ip(machine: string, lines: readonly string[]): Promise<void> {
    await this.#run(machine, ['ip', '-batch', '-'], `${lines.join('\n')}\n`);
  }

  async sysctl(machine: string, ...settings: readonly string[]): Promise<void> {
    await this.#run(machine, ['sysctl', '-qw', ...settings]);
  }

  /** Applies rules on a machine, in the syntax of nft. */
  async nft(machine: string, rules: string): Promise<void> {
    await this.#run(machine, ['nft', '-f', '-'], rules);
  }

  /** Joins a machine to a segment with an interface of this name and these addresses. */
  async plug(
    machine: string,
    link: string,
    segment: string,
    addresses: readonly string[],
  ): Promise<void> {
    this.#ports += 1;
    const port = `port${this.#ports}`;
    await this.ip(hub, [
      `link add ${port} type veth peer name ${link} netns ${this.nameOf(machine)}`,
      `link set ${port} master ${segment} up`,
    ]);
    await this.ip(machine, [
      ...addresses.map((address) => `address add ${address} dev ${link}${atOnce(address)}`),
      `link set ${link} up`,
    ]);
  }

  async remove(machine: string): Promise<void> {
    if (!this.#machines.delete(machine)) return;
    await removeNamespace(this.nameOf(machine));
  }

  async removeAll(): Promise<void> {
    for (const machine of [...this.#machines]) await this.remove(machine);
  }

  #run(machine: string, command: readonly string[], input?: string): Promise<void> {
    const [program, ...words] = this.words(machine);
    return run(program, [...words, ...command], input);
  }
}

/** Addresses are unique here, so IPv6 can skip its one-second duplicate address detection. */
export function atOnce(address: string): string {
  return address.includes(':') ? ' nodad' : '';
}

/** In a user namespace `ip` can't create one: it tries to return to its original network. */
async function addNamespace(name: string): Promise<void> {
  if (!isInUserNamespace()) return run('ip', ['netns', 'add', name]);
  await fs.mkdir(directory, { recursive: true });
  const file = `${directory}/${name}`;
  await fs.writeFile(file, '', { flag: 'wx' });
  await run('unshare', [`--net=${file}`, 'true']);
}

/** Ends the processes in a namespace, and removes it. */
async function removeNamespace(name: string): Promise<void> {
  const { stdout } = await runProgram('ip', ['netns', 'pids', name]);
  for (const pid of stdout.split('\n').map(Number).filter(Boolean)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has just exited.
    }
  }
  await runProgram('ip', ['netns', 'del', name]);
}

async function sweep(): Promise<void> {
  const names = await fs.readdir(directory).catch(() => []);
  for (const name of names) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined) continue;
    const isAlive = await fs.stat(`/proc/${pid}`).then(
      () => true,
      () => false,
    );
    if (!isAlive) await removeNamespace(name);
  }
}

async function run(program: string, args: readonly string[], input = ''): Promise<void> {
  const { code, stderr } = await runProgram(program, args, { input });
  if (code === 0) return;
  throw new CausewayError('unavailable', `${program} ${args.join(' ')}: ${stderr.trim()}`);
}

/** Why this process can't create network namespaces with rules; undefined if it can. */
export async function whyNoNamespaces(): Promise<string | undefined> {
  const name = `${prefix}${process.pid}-try`;
  const words = [`--net=${directory}/${name}`];
  try {
    await addNamespace(name);
    await run('nsenter', [...words, 'ip', 'link', 'add', 'bridge', 'type', 'bridge']);
    await run('nsenter', [...words, 'sysctl', '-qw', 'net.ipv4.ip_forward=1']);
    await run('nsenter', [...words, 'nft', 'add table inet try']);
    return undefined;
  } catch (error) {
    return CausewayError.from(error).message;
  } finally {
    await removeNamespace(name);
  }
}
