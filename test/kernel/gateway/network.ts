import { createHash } from 'node:crypto';
import { isAlive } from '../../services/scratch.ts';
import { MissingError } from '../../services/missing.ts';
import { runOrThrow, runProgram } from '../../services/run-program.ts';

const prefix = 'cwgw';

/** Fails with one line that names the missing requirements of tests that build networks and send packets. */
export async function requireNetworkTools(): Promise<void> {
  if (process.getuid?.() !== 0) throw new MissingError('kernel tests need root');
  for (const tool of ['ip', 'nft', 'keepalived', 'conntrack']) {
    const found = await runProgram('which', [tool]);
    if (found.code !== 0) throw new MissingError(`kernel tests need ${tool} (apt install it)`);
  }
}

/**
 * A network of namespaces that belongs to this process: two switches, and machines connected to them.
 * Leftovers of killed processes are removed first.
 */
export class TestNetwork {
  readonly #id: string;
  readonly #machines = new Set<string>();

  private constructor(id: string) {
    this.#id = id;
  }

  static async create(switches: readonly string[]): Promise<TestNetwork> {
    await sweepStale();
    const network = new TestNetwork(`${prefix}${process.pid}`);
    await network.addMachine('switch');
    for (const name of switches) {
      await network.ip('switch', `link add ${name} type bridge`);
      await network.ip('switch', `link set ${name} up`);
    }
    return network;
  }

  /** The name of a machine's namespace. */
  namespace(machine: string): string {
    return `${this.#id}-${machine}`;
  }

  async addMachine(machine: string): Promise<void> {
    const name = this.namespace(machine);
    await runOrThrow('ip', ['netns', 'add', name]);
    this.#machines.add(machine);
    await this.ip(machine, 'link set lo up');
    // A new link is usable at once, as in a data center without duplicate addresses.
    await this.sysctl(machine, 'net.ipv6.conf.all.accept_dad', 0);
    await this.sysctl(machine, 'net.ipv6.conf.default.accept_dad', 0);
  }

  /** Plugs a machine into a switch. */
  async plug(
    machine: string,
    link: string,
    into: string,
    addresses: readonly string[],
  ): Promise<void> {
    const port = `${machine}-${link}`;
    await runOrThrow('ip', [
      ...['link', 'add', port, 'netns', this.namespace('switch')],
      ...['type', 'veth', 'peer', 'name', link, 'netns', this.namespace(machine)],
    ]);
    // A machine that comes back has its previous network cards.
    const mac = createHash('sha256').update(`${machine} ${link}`).digest('hex').slice(0, 10);
    const octets = mac.match(/../g) ?? [];
    await this.ip(machine, `link set ${link} address 02:${octets.join(':')}`);
    await this.ip('switch', `link set ${port} master ${into} up`);
    await this.#configure(machine, link, addresses);
  }

  /** A cable between two machines. */
  async cable(
    one: { machine: string; link: string; addresses: readonly string[] },
    other: { machine: string; link: string; addresses: readonly string[] },
  ): Promise<void> {
    await runOrThrow('ip', [
      ...['link', 'add', one.link, 'netns', this.namespace(one.machine)],
      ...['type', 'veth', 'peer', 'name', other.link, 'netns', this.namespace(other.machine)],
    ]);
    await this.#configure(one.machine, one.link, one.addresses);
    await this.#configure(other.machine, other.link, other.addresses);
  }

  ip(machine: string, command: string): Promise<string> {
    return runOrThrow('ip', ['-n', this.namespace(machine), ...command.split(' ')]);
  }

  sysctl(machine: string, name: string, value: number): Promise<string> {
    return this.run(machine, ['sysctl', '-qw', `${name}=${value}`]);
  }

  run(machine: string, command: readonly string[], input?: string): Promise<string> {
    return runOrThrow(
      'ip',
      ['netns', 'exec', this.namespace(machine), ...command],
      input === undefined ? {} : { input },
    );
  }

  /** Kills all processes of a machine. */
  async killAll(machine: string): Promise<void> {
    await signalNamespace(this.namespace(machine), 'SIGKILL');
  }

  /** Stops all processes of a machine, but not its kernel, until the returned function is called. */
  async freeze(machine: string): Promise<() => Promise<void>> {
    await signalNamespace(this.namespace(machine), 'SIGSTOP');
    return () => signalNamespace(this.namespace(machine), 'SIGCONT');
  }

  /** Removes a machine with all its processes and cables. */
  async removeMachine(machine: string): Promise<void> {
    this.#machines.delete(machine);
    await removeNamespace(this.namespace(machine));
  }

  async remove(): Promise<void> {
    for (const machine of this.#machines) await removeNamespace(this.namespace(machine));
  }

  async #configure(machine: string, link: string, addresses: readonly string[]): Promise<void> {
    for (const address of addresses) {
      const flag = address.includes(':') ? ' nodad' : '';
      await this.ip(machine, `address add ${address} dev ${link}${flag}`);
    }
    await this.ip(machine, `link set ${link} up`);
  }
}

async function sweepStale(): Promise<void> {
  const { stdout } = await runProgram('ip', ['netns', 'list']);
  for (const line of stdout.split('\n')) {
    const [name = ''] = line.split(' ');
    const owner = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) await removeNamespace(name);
  }
}

async function removeNamespace(name: string): Promise<void> {
  // The links are deleted at once; a namespace itself may remain while the kernel cleans up.
  const links = await runProgram('ip', ['-n', name, '-brief', 'link', 'show', 'type', 'veth']);
  for (const line of links.stdout.split('\n').filter((each) => each !== '')) {
    await runProgram('ip', ['-n', name, 'link', 'delete', line.split(/[ @]/)[0] ?? '']);
  }
  await signalNamespace(name, 'SIGKILL');
  await runProgram('ip', ['netns', 'delete', name]);
}

async function signalNamespace(name: string, signal: NodeJS.Signals): Promise<void> {
  const pids = await runProgram('ip', ['netns', 'pids', name]);
  for (const pid of pids.stdout.split('\n').filter((line) => line !== '')) {
    signalProcess(Number(pid), signal);
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in the meantime.
  }
}
