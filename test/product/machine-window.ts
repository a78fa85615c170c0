import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import type { FreshMachine, MachineUser } from '../services/fresh-machine.ts';
import { HopelessError, waitFor } from '../services/wait-for.ts';

/** A terminal window that runs one line. */
export class MachineWindow {
  readonly closed: Promise<number | null>;
  readonly #child: ChildProcessWithoutNullStreams;
  #text = '';

  constructor(machine: FreshMachine, line: string, user: MachineUser) {
    const [program, ...args] = machine.typed(`script -qefc '${line}' /dev/null`, user);
    this.#child = spawn(program, args, { stdio: 'pipe' });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#text += chunk.toString();
      });
    }
    this.closed = new Promise((resolve) => this.#child.once('exit', resolve));
  }

  /** Its text, without colors. */
  get text(): string {
    return stripVTControlCharacters(this.#text).replaceAll('\r\n', '\n');
  }

  until(words: string): Promise<string> {
    return waitFor(`"${words}"`, () => {
      if (this.text.includes(words)) return this.text;
      if (this.#child.exitCode !== null) throw new HopelessError(this.text);
      return undefined;
    });
  }

  pressCtrlC(): void {
    this.#child.stdin.write('\x03');
  }
}
