import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import { runProgram } from '../../packages/base/src/process/run-program.ts';

/**
 * Small networks for tests: namespaces joined by bridges in their own namespace, so that nothing appears in
 * the machine's. Names carry the process ID; the next run removes the leftovers of a killed one.
 */
export class TestNetwork {
  readonly #prefix: string;
  readonly #hosts = new Map<string, Host>();
  #hasSwitch = false;

  private constructor(prefix: string) {
    this.#prefix = prefix;
  }

  static async create(): Promise<TestNetwork> {
    await sweep();
    return new TestNetwork(`cw-${process.pid}-${randomBytes(3).toString('hex')}`);
  }

  /** A new host, with loopback up. */
  async host(name: string): Promise<Host> {
    const namespace = `${this.#prefix}-${name}`;
    await ip('netns', 'add', namespace);
    const host = new Host(namespace);
    this.#hosts.set(name, host);
    await host.ip('link', 'set', 'lo', 'up');
    return host;
  }

  /** A network segment for hosts. */
  async segment(name: string): Promise<void> {
    const switchHost = await this.#switch();
    await switchHost.ip('link', 'add', name, 'type', 'bridge');
    await switchHost.ip('link', 'set', name, 'up');
  }

  /** Joins a host to a segment with an interface of the segment's name and these addresses. */
  async join(host: Host, segment: string, ...addresses: string[]): Promise<void> {
    const switchHost = await this.#switch();
    const port = `p${randomBytes(4).toString('hex')}`;
    await switchHost.ip(
      ...['link', 'add', port, 'type', 'veth', 'peer', 'name', segment],
      ...['netns', host.namespace],
    );
    await switchHost.ip('link', 'set', port, 'master', segment, 'up');
    for (const address of addresses) {
      const flags = address.includes(':') ? ['nodad'] : [];
      await host.ip('address', 'add', address, 'dev', segment, ...flags);
    }
    await host.ip('link', 'set', segment, 'up');
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map((host) => host.stop()));
    for (const host of this.#hosts.values()) await ip('netns', 'del', host.namespace);
    this.#hosts.clear();
  }

  async #switch(): Promise<Host> {
    const existing = this.#hosts.get('switch');
    if (existing !== undefined) return existing;
    if (this.#hasSwitch) throw new Error('the switch is being created');
    this.#hasSwitch = true;
    return this.host('switch');
  }
}

export class Host {
  readonly namespace: string;
  readonly #children = new Set<ChildProcess>();

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  /** For setns(2) and nsenter(1). */
  get path(): string {
    return `/run/netns/${this.namespace}`;
  }

  /** Runs a program to its end and returns what it printed; throws if it failed. */
  async run(program: string, ...args: string[]): Promise<string> {
    const result = await this.attempt(program, args);
    if (result.code !== 0) {
      throw new Error(`${program} ${args.join(' ')}: ${result.stderr || result.stdout}`);
    }
    return result.stdout;
  }

  /** Runs a program to its end with text on its standard input; resolves however it ends. */
  attempt(program: string, args: readonly string[], input = '') {
    return runProgram('nsenter', [`--net=${this.path}`, program, ...args], { input });
  }

  /** Foreign rules, in the language of nft. */
  async loadRules(text: string): Promise<void> {
    const result = await this.attempt('nft', ['-f', '-'], text);
    if (result.code !== 0) throw new Error(`nft: ${result.stderr}`);
  }

  async ip(...args: string[]): Promise<string> {
    return this.run('ip', ...args);
  }

  async setting(name: string, value: string | number): Promise<void> {
    await this.run('sysctl', '-qw', `${name}=${value}`);
  }

  /** Starts a program that runs until the host is stopped, or ends with this process. */
  start(program: string, ...args: string[]): ChildProcess {
    const child = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', 'nsenter', `--net=${this.path}`, program, ...args],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.#children].map(
        (child) =>
          new Promise<void>((resolve) => {
            child.once('exit', () => resolve());
            child.kill('SIGKILL');
          }),
      ),
    );
  }
}

/** Whether tests that need root and network namespaces can run here; prints the reason once if not. */
export function canUseNamespaces(): boolean {
  if (process.getuid?.() === 0) return true;
  if (process.env['CI'] === 'true') throw new Error('network namespaces need root');
  process.stderr.write('skipped: tests with network namespaces need root\n');
  return false;
}

async function ip(...args: string[]): Promise<void> {
  const result = await runProgram('ip', args);
  if (result.code !== 0) throw new Error(`ip ${args.join(' ')}: ${result.stderr}`);
}

/** Removes namespaces of ended processes. */
async function sweep(): Promise<void> {
  const names = await fs.readdir('/run/netns').catch(() => []);
  for (const name of names) {
    const pid = /^cw-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || (await isRunning(pid))) continue;
    await runProgram('ip', ['netns', 'del', name]);
  }
}

async function isRunning(pid: string): Promise<boolean> {
  return fs.stat(`/proc/${pid}`).then(
    () => true,
    () => false,
  );
}
