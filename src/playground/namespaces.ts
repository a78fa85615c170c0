import fs from 'node:fs/promises';
import { CausewayError } from '../domain/error.ts';
import { runProgram } from '../runtime/program.ts';

const prefix = 'cwplay';

/**
 * Machines that are network namespaces, joined by segments that live in a namespace of their own, so
 * that nothing appears in the machine's own network. Names carry the process id: what a playground
 * left behind that was killed is removed by the next one.
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
    await namespaces.add('switch');
    await namespaces.ip(
      'switch',
      segments.flatMap((name) => [`link add ${name} type bridge`, `link set ${name} up`]),
    );
    return namespaces;
  }

  /** What `ip netns` calls the machine. */
  nameOf(machine: string): string {
    return `${this.#id}-${machine}`;
  }

  /** The file that stands for it, for setns. */
  pathOf(machine: string): string {
    return `/run/netns/${this.nameOf(machine)}`;
  }

  /** The words that go before a command to have it run there. */
  exec(machine: string): readonly [string, ...string[]] {
    return ['ip', 'netns', 'exec', this.nameOf(machine)];
  }

  async add(machine: string): Promise<void> {
    await run('ip', ['netns', 'add', this.nameOf(machine)]);
    this.#machines.add(machine);
    await this.ip(machine, ['link set lo up']);
  }

  /** Runs lines of `ip` on a machine, all in one go. */
  async ip(machine: string, lines: readonly string[]): Promise<void> {
    await run('ip', ['-netns', this.nameOf(machine), '-batch', '-'], `${lines.join('\n')}\n`);
  }

  async sysctl(machine: string, ...settings: readonly string[]): Promise<void> {
    const [program, ...words] = this.exec(machine);
    await run(program, [...words, 'sysctl', '-qw', ...settings]);
  }

  /** Rules for a machine, in the language of nft. */
  async nft(machine: string, rules: string): Promise<void> {
    const [program, ...words] = this.exec(machine);
    await run(program, [...words, 'nft', '-f', '-'], rules);
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
    await this.ip('switch', [
      `link add ${port} type veth peer name ${link} netns ${this.nameOf(machine)}`,
      `link set ${port} master ${segment} up`,
    ]);
    await this.ip(machine, [
      ...addresses.map((address) => `address add ${address} dev ${link}`),
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
}

/** Ends what runs in a namespace, and removes it. */
async function removeNamespace(name: string): Promise<void> {
  const { stdout } = await runProgram('ip', ['netns', 'pids', name]);
  for (const pid of stdout.split('\n').map(Number).filter(Boolean)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  }
  await runProgram('ip', ['netns', 'del', name]);
}

async function sweep(): Promise<void> {
  const names = await fs.readdir('/run/netns').catch(() => []);
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

/** Why real network namespaces can't be had here; undefined where they can. */
export async function whyNoNamespaces(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'that needs root';
  for (const program of ['ip', 'nft', 'keepalived', 'conntrack', 'sysctl']) {
    const isThere = await runProgram('which', [program]).then(
      ({ code }) => code === 0,
      () => false,
    );
    if (!isThere) return `${program} is not installed`;
  }
  const name = `${prefix}${process.pid}-try`;
  const { code, stderr } = await runProgram('ip', ['netns', 'add', name]);
  if (code !== 0) return `network namespaces are not allowed here (${stderr.trim()})`;
  await removeNamespace(name);
  return undefined;
}
