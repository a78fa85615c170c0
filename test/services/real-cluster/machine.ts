import fs from 'node:fs/promises';
import { runOrThrow, runProgram, type ProgramOptions } from '../run-program.ts';
import { descendantsOf } from '../process-tree.ts';
import { startServiceProcess, type ServiceProcess } from '../service-process.ts';
import { HopelessError, waitFor } from '../wait-for.ts';

/** The group of links that are cables. */
const cables = '1';

/** A set of namespaces that exist as long as their first process. */
export class Machine {
  /** PID of the first process on this machine. */
  readonly pid: number;
  readonly #holder: ServiceProcess;
  readonly #log: (name: string) => string;

  private constructor(pid: number, holder: ServiceProcess, log: (name: string) => string) {
    this.pid = pid;
    this.#holder = holder;
    this.#log = log;
  }

  /** Within another machine, with which it ends. `init` waits and reaps orphans. */
  static async boot(options: {
    readonly name: string;
    readonly init: string;
    readonly log: (name: string) => string;
    readonly within?: Machine;
  }): Promise<Machine> {
    const { name, init, log, within } = options;
    const enter =
      within === undefined ? [] : ['nsenter', '-t', String(within.pid), '-p', '-m', '--'];
    const [program = '', ...args] = [
      ...enter,
      ...['unshare', '--net', '--mount', '--pid', '--uts', '--ipc'],
      ...['--fork', '--kill-child', '--mount-proc', init],
    ];
    const holder = startServiceProcess(program, args, { logFile: log(name) });
    const pid = await waitFor(`the first process of ${name}`, async () => {
      if (!holder.isRunning()) throw new HopelessError(`${name} did not start: ${log(name)}`);
      const below = await descendantsOf(holder.pid);
      const last = below.at(-1);
      return last !== undefined && (await programOf(last)) === init ? last : undefined;
    });
    const machine = new Machine(pid, holder, log);
    await machine.run('ip', 'link', 'set', 'lo', 'up');
    return machine;
  }

  /** Runs a program to its end and returns what it printed; throws if it failed. */
  run(program: string, ...args: string[]): Promise<string> {
    return runOrThrow('nsenter', [...this.#enter(), program, ...args]);
  }

  attempt(program: string, args: readonly string[], options: ProgramOptions = {}) {
    return runProgram('nsenter', [...this.#enter(), program, ...args], options);
  }

  /** Starts a program that ends with the machine at the latest. */
  start(
    name: string,
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): ServiceProcess {
    const words = [...this.#enter(), program, ...args];
    return startServiceProcess('nsenter', words, { logFile: this.#log(name), env });
  }

  /** Runs a program of this machine with its files, in the network of the other machine. */
  runInNetwork(program: string, args: readonly string[], options: ProgramOptions = {}) {
    return runOrThrow('nsenter', [`--net=/proc/${this.pid}/ns/net`, program, ...args], options);
  }

  /** Resolves when it has ended. */
  get hasEnded(): Promise<void> {
    return this.#holder.exited;
  }

  /** Takes the end of a cable to a switch. */
  async takeCable(link: string): Promise<void> {
    await this.run('ip', 'link', 'set', link, 'group', cables);
  }

  /**
   * Everything in it ends at once, like in a power cut: the cables first, or the kernel would close the
   * connections of its programs.
   */
  async cutPower(): Promise<void> {
    await this.attempt('ip', ['link', 'set', 'group', cables, 'down']);
    try {
      process.kill(this.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
    await this.#holder.exited;
  }

  #enter(): string[] {
    return ['-t', String(this.pid), '-n', '-m', '-p', '-u', '-i', '--'];
  }
}

async function programOf(pid: number): Promise<string> {
  return fs.readlink(`/proc/${pid}/exe`).catch(() => '');
}
