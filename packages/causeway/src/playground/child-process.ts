import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';

/** A command of Causeway that runs as a process of its own, as it would on its own machine. */
export interface Job {
  readonly name: string;
  /** The words after `causeway`. */
  readonly words: readonly string[];
  /** The words before it, which take it to another machine. */
  readonly exec?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Started again when it has died, as its service manager would; else its death is the end of all. */
  readonly isRestarted?: boolean;
}

const main = path.join(import.meta.dirname, '..', 'cli', 'main');
const stopWithinMs = 8_000;
const restartAfterMs = 2_000;
const shownLines = 12;

/** The jobs' processes. They end with this one, however it ends: they notice when the channel closes. */
export class Jobs {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #running = new Map<string, ChildProcess>();
  readonly #onDeath: (error: CausewayError) => void;
  /** Those that came up once: one that never does is not tried again and again. */
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

  /** Waits until the check has an answer; fails at once when the job is gone. */
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
    const hint = `Its last words:\n${this.#tail(name)}`;
    this.#onDeath(new CausewayError('unavailable', `${name} ${how}`, { hint }));
  }

  #tail(name: string): string {
    const text = fs.readFileSync(this.logOf(name), 'utf8').trimEnd();
    return text.split('\n').slice(-shownLines).join('\n');
  }
}

/** The flags that this process was started with: a clone needs some that a package does not. */
const nodeFlags = process.execArgv;
