import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { ensureProgram } from '../../services/programs.ts';
import { runProgram, type ProgramResult } from '../../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import {
  logTail,
  processesIn,
  startServiceProcess,
  type ServiceProcess,
} from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';
import { repository } from '../running-playground.ts';

const main = path.join(repository, 'packages', 'causeway', 'src', 'cli', 'main.ts');

/** The command of python3-openstackclient; without it, the cloud is only checked by other means. */
export const hasOpenStackCommand = existsSync('/usr/bin/openstack');

/** An operator's shell, in which `causeway` is this clone and `kubectl` the real one. */
export class Terminal {
  readonly directory: string;
  readonly #env: Record<string, string>;

  private constructor(directory: string, env: Record<string, string>) {
    this.directory = directory;
    this.#env = env;
  }

  static async open(env: Readonly<Record<string, string>>): Promise<Terminal> {
    const directory = await scratchDirectory('migrating');
    const programs = path.join(directory, 'bin');
    await fs.mkdir(programs);
    await fs.symlink(await ensureProgram('kubectl'), path.join(programs, 'kubectl'));
    const causeway = `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`;
    await fs.writeFile(path.join(programs, 'causeway'), causeway, { mode: 0o755 });
    const PATH = `${programs}:${process.env['PATH']}`;
    return new Terminal(directory, { PATH, no_proxy: '127.0.0.1', ...env });
  }

  async close(): Promise<void> {
    for (const service of processesIn(this.directory)) await service.stop();
    await removeDirectory(this.directory);
  }

  file(name: string): string {
    return path.join(this.directory, name);
  }

  async write(name: string, content: string | object): Promise<string> {
    const text = typeof content === 'string' ? content : JSON.stringify(content, undefined, 2);
    await fs.writeFile(this.file(name), text, { mode: 0o600 });
    return this.file(name);
  }

  /** Runs a line as it is; a code other than 0 is a result. */
  attempt(line: string, env: Readonly<Record<string, string>> = {}): Promise<ProgramResult> {
    return runProgram('bash', ['-c', line], {
      cwd: this.directory,
      env: { ...this.#env, ...env },
    });
  }

  /** Runs a line that must succeed, and returns its output. */
  async run(line: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const { code, stdout, stderr } = await this.attempt(line, env);
    if (code !== 0) throw new Error(`${line}: ended with ${code}: ${stderr || stdout}`);
    return stdout;
  }

  /** Runs `causeway …` until it is stopped; resolves once it reports that it is ready. */
  async start(
    line: string,
    healthPort: number,
    env: Readonly<Record<string, string>> = {},
  ): Promise<ServiceProcess> {
    const logFile = this.file(`${healthPort}.log`);
    const words = line.split(' ').slice(1);
    const service = startServiceProcess(process.execPath, [main, ...words], {
      logFile,
      cwd: this.directory,
      env: { ...this.#env, ...env },
    });
    await waitFor(`${line} to be ready`, async () => {
      if (!service.isRunning()) throw new HopelessError(`it ended:\n${logTail(logFile)}`);
      return (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok;
    });
    return service;
  }
}

/** The command of a page with a reader's own values in place of the placeholders. */
export function filled(command: string | undefined, words: Readonly<Record<string, string>>) {
  let line = command ?? '';
  for (const [word, own] of Object.entries(words)) {
    if (!line.includes(word)) throw new Error(`no ${word} in ${JSON.stringify(command)}`);
    line = line.replaceAll(word, own);
  }
  return line;
}
