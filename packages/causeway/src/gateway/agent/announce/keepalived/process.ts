import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import { runProgram } from '@causeway/base/process/run-program';
import type { KeepalivedFiles } from './vrrp-networks.ts';

/**
 * - `spawn`: the agent starts keepalived as its own daemon, which survives the agent
 * - `external`: another program, such as systemd, starts keepalived, and the agent waits for it
 */
export type StartMode = 'spawn' | 'external';

const startLimitMs = 10_000;
const stopLimitMs = 10_000;
const pollMs = 20;

/**
 * The keepalived process. It is not a child process, because it must outlive the agent. Its pid files
 * identify it.
 */
export class KeepalivedProcess {
  readonly #files: KeepalivedFiles;
  readonly #mode: StartMode;
  readonly #clock: Clock;

  constructor(files: KeepalivedFiles, mode: StartMode, clock: Clock) {
    this.#files = files;
    this.#mode = mode;
    this.#clock = clock;
  }

  /** Whether both keepalived processes run. A pid file of another program's process doesn't count. */
  async isRunning(): Promise<boolean> {
    return (
      (await this.#livePid(this.#files.pid)) !== undefined &&
      (await this.#livePid(this.#files.vrrpPid)) !== undefined
    );
  }

  /** Starts keepalived in the mode `spawn`, and waits until it runs. */
  async start(signal: AbortSignal): Promise<void> {
    const hasEnded = this.#mode === 'spawn' ? await this.#spawn() : () => false;
    await withDeadline(this.#clock, startLimitMs, signal, 'starting keepalived', async (limit) => {
      while (!(await this.isRunning())) {
        if (hasEnded()) throw unavailable('keepalived ended immediately after its start');
        await sleep(this.#clock, pollMs, limit);
      }
    });
  }

  /** Starts a process that survives the agent. Returns a function that says whether it has ended. */
  async #spawn(): Promise<() => boolean> {
    const { config, pid, vrrpPid, log } = this.#files;
    // keepalived considers a pid file valid if its process is dead but not yet reaped.
    for (const file of [pid, vrrpPid]) {
      if ((await this.#livePid(file)) === undefined) await fs.rm(file, { force: true });
    }
    const output = await fs.open(log, 'w', 0o600);
    try {
      const child = spawn(
        'keepalived',
        [
          // No detailed log: a line for each announcement would delay a failover with many addresses.
          ...['--dont-fork', '--log-console', '--no-syslog', '--vrrp'],
          ...['--use-file', config, '--pid', pid, '--vrrp_pid', vrrpPid],
        ],
        { detached: true, stdio: ['ignore', output.fd, output.fd] },
      );
      let hasFailed = false;
      child.on('error', () => (hasFailed = true));
      child.unref();
      return () => hasFailed || child.exitCode !== null;
    } finally {
      await output.close();
    }
  }

  /** Stops keepalived, which removes its addresses from the links, and waits until it has ended. */
  async stop(signal: AbortSignal): Promise<void> {
    const pid = await this.#livePid(this.#files.pid);
    if (pid === undefined) return;
    process.kill(pid, 'SIGTERM');
    await withDeadline(this.#clock, stopLimitMs, signal, 'stopping keepalived', async (limit) => {
      while ((await this.#livePid(this.#files.pid)) !== undefined) {
        await sleep(this.#clock, pollMs, limit);
      }
    });
  }

  /** Makes keepalived reload its configuration. */
  async reload(): Promise<void> {
    const pid = await this.#livePid(this.#files.pid);
    if (pid === undefined) throw unavailable('keepalived is not running');
    process.kill(pid, 'SIGHUP');
  }

  /** Runs keepalived's configuration test. Throws `invalid` with keepalived's output. */
  async test(configFile: string, signal: AbortSignal): Promise<void> {
    const outcome = await runProgram('keepalived', ['--config-test', '--use-file', configFile], {
      signal,
    });
    if (outcome.code === 0) return;
    throw new CausewayError('invalid', 'keepalived rejects its generated configuration', {
      hint: `${outcome.stdout}${outcome.stderr}`.trim().slice(0, 400),
    });
  }

  async #livePid(file: string): Promise<number | undefined> {
    const text = await fs.readFile(file, 'utf8').catch(() => '');
    const pid = Number(text.trim());
    if (!Number.isInteger(pid) || pid <= 1) return undefined;
    const command = await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return command.split('\0').includes(this.#files.config) ? pid : undefined;
  }
}

function unavailable(message: string): CausewayError {
  return new CausewayError('unavailable', message, {
    hint: "See keepalived's own log for details.",
  });
}
