import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { startServiceProcess } from '../services/service-process.ts';
import { Unit } from './unit.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);
const movedClock = path.join(import.meta.dirname, 'programs', 'moved-clock.js');

/** Arguments that run a Causeway command with a clock that can be moved. */
export function withMovableClock(clockFile: string, words: readonly string[]): readonly string[] {
  const node = [process.execPath, '--import', movedClock, main];
  return ['env', `CHAOS_CLOCK=${clockFile}`, ...node, ...words];
}

/** Directory of one process: its settings, its clock and its input files. */
export class JobDirectory {
  readonly #parent: string;
  readonly #name: string;

  constructor(parent: string, name: string) {
    this.#parent = parent;
    this.#name = name;
  }

  async write(base: string, content: string | object): Promise<string> {
    const file = path.join(this.#parent, this.#name, base);
    await fs.mkdir(path.dirname(file), { recursive: true });
    const text = typeof content === 'string' ? content : stringify(content);
    await fs.writeFile(file, text, { mode: 0o600 });
    return file;
  }

  /** A Causeway command under a simulated service manager. */
  unit(words: readonly string[], env: Readonly<Record<string, string>> = {}): Unit {
    const clock = path.join(this.#parent, this.#name, 'clock');
    const logFile = path.join(this.#parent, `${this.#name}.log`);
    const [program = '', ...args] = withMovableClock(clock, words);
    const start = () =>
      startServiceProcess(program, args, { logFile, env: { KUBECONFIG: '', ...env } });
    return new Unit(this.#name, start);
  }
}
