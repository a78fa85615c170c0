import fs from 'node:fs/promises';
import { CausewayError } from '../../domain/error.ts';
import { sleep, type Clock } from '../../runtime/clock.ts';
import { withDeadline } from '../../runtime/deadline.ts';
import { runProgram } from '../../runtime/program.ts';
import type { KeepalivedFiles } from './settings.ts';

/**
 * - `spawn`: the agent starts keepalived as a daemon of its own, which goes on when the agent ends
 * - `external`: something else does, such as systemd; the agent waits for it
 */
export type StartMode = 'spawn' | 'external';

const startLimitMs = 10_000;
const pollMs = 20;

/** The keepalived process, which is not our child: it must outlive us. Found by its pid files. */
export class KeepalivedProcess {
  readonly #files: KeepalivedFiles;
  readonly #mode: StartMode;
  readonly #clock: Clock;

  constructor(files: KeepalivedFiles, mode: StartMode, clock: Clock) {
    this.#files = files;
    this.#mode = mode;
    this.#clock = clock;
  }

  /** Whether both of its processes are there. A pid file whose process is something else does not count. */
  async isRunning(): Promise<boolean> {
    return (
      (await this.#livePid(this.#files.pid)) !== undefined &&
      (await this.#livePid(this.#files.vrrpPid)) !== undefined
    );
  }

  /** Starts it where that is ours to do, and waits until it runs. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#mode === 'spawn') {
      const { config, pid, vrrpPid } = this.#files;
      const outcome = await runProgram(
        'keepalived',
        ['--vrrp', '--use-file', config, '--pid', pid, '--vrrp_pid', vrrpPid],
        { signal },
      );
      if (outcome.code !== 0) throw unavailable(`keepalived ended with ${outcome.code}`);
    }
    await withDeadline(
      this.#clock,
      startLimitMs,
      signal,
      'the start of keepalived',
      async (limit) => {
        while (!(await this.isRunning())) await sleep(this.#clock, pollMs, limit);
      },
    );
  }

  /** Makes it read its configuration again. */
  async reload(): Promise<void> {
    const pid = await this.#livePid(this.#files.pid);
    if (pid === undefined) throw unavailable('keepalived is not running');
    process.kill(pid, 'SIGHUP');
  }

  /** Runs keepalived over a configuration without using it. Throws `invalid` with what it says. */
  async test(configFile: string, signal: AbortSignal): Promise<void> {
    const outcome = await runProgram('keepalived', ['--config-test', '--use-file', configFile], {
      signal,
    });
    if (outcome.code === 0) return;
    throw new CausewayError('invalid', 'keepalived refuses the configuration made for it', {
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
  return new CausewayError('unavailable', message, { hint: "Keepalived's own log says more." });
}
