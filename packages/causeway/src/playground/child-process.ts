import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';

/** A Causeway command that runs as its own process, as on its own machine. */
export interface Job {
  readonly name: string;
  /** The arguments after `causeway`. */
  readonly words: readonly string[];
  /** The command prefix that runs it on another machine. */
  readonly exec?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Restarted when it exits, as by a service manager; otherwise its exit ends the playground. */
  readonly isRestarted?: boolean;
}

const main = path.join(import.meta.dirname, '..', 'cli', 'main');
const stopWithinMs = 8_000;
const restartAfterMs = 2_000;
const shownLines = 12;

/**
 * The processes of the jobs. They end with this process, however it ends: they notice that the channel
 * closes.
 */
export class Jobs {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #running = new Map<string, ChildProcess>();
  readonly #onDeath: (error: CausewayError) => void;
  /** Jobs that became ready once: a job that never becomes ready is not restarted. */
  readonly #hasServed = new Set<string>();
  #isStopping = false;

  constructor(directory: string, clock: Clock, onDeath: (error: CausewayError) => void) {
    this.#directory = directory;
    this.#clock = clock;
    this.#onDeath = onDeath;
  }

  logOf(name: string): string {
    return path.join(this.#directory, `${name}.log`);
  }

  start(job: Job): void {
    const { name, words, exec = [], environment = {} } = job;
    const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
    const command = [...exec, process.execPath, ...nodeFlags, `${main}${extension}`, ...words];
    const [program = '', ...args] = command;
    const log = fs.openSync(this.logOf(name), 'a');
    const child = spawn(program, args, {
      stdio: ['ignore', log, log, 'ipc'],
      env: { ...process.env, ...environment },
    });
    fs.closeSync(log);
    this.#running.set(name, child);
    child.once('error', (cause) => this.#died(job, cause.message));
    child.once('exit', (code, signal) => this.#died(job, `ended with ${signal ?? code}`));
  }

  /** Waits until the check returns a value; fails at once if the job has exited. */
  async until<T>(
    name: string,
    check: () => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      if (!this.#running.has(name)) {
        throw new CausewayError('unavailable', `${name} did not start`, { hint: this.#tail(name) });
      }
      const answer = await check().catch(() => undefined);
      if (answer !== undefined) {
        this.#hasServed.add(name);
        return answer;
      }
      await sleep(this.#clock, 50, signal);
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#running.values()].map((child) => this.#stopOne(child)));
  }

  async #stopOne(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const timer = this.#clock.timer(stopWithinMs, () => child.kill('SIGKILL'));
    await ended;
    timer.cancel();
  }

  #died(job: Job, how: string): void {
    const { name } = job;
    this.#running.delete(name);
    if (this.#isStopping) return;
    if (job.isRestarted === true && this.#hasServed.has(name)) {
      this.#clock.timer(restartAfterMs, () => {
        if (!this.#isStopping) this.start(job);
      });
      return;
    }
    const hint = `Its last output:\n${this.#tail(name)}`;
    this.#onDeath(new CausewayError('unavailable', `${name} ${how}`, { hint }));
  }

  #tail(name: string): string {
    const text = fs.readFileSync(this.logOf(name), 'utf8').trimEnd();
    return text.split('\n').slice(-shownLines).join('\n');
  }
}

/** The flags of this process: a clone needs some that a package does not. */
const nodeFlags = process.execArgv;
