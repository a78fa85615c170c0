import { spawn } from 'node:child_process';
import { CausewayError } from '../error/causeway-error.ts';
import { abortedBy } from '../time/clock.ts';

export interface ProgramOutcome {
  /** -1 if a signal ended the program. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
  /** Called with the process ID when the program has started. */
  readonly onStart?: (processId: number) => void;
}

/** Output beyond this limit is cut off to bound memory. The programs in use write little. */
const longestOutput = 64 * 1024 * 1024;

/**
 * Runs a program to its end, without a shell. An exit code other than 0 is a result, not an error. Fails with
 * `not-found` if the program doesn't exist. The signal kills it.
 */
export function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramOutcome> {
  return new Promise((resolve, reject) => {
    const { signal } = options;
    if (signal?.aborted === true) {
      reject(abortedBy(signal));
      return;
    }
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const kill = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', kill, { once: true });
    const stdout = new Output();
    const stderr = new Output();
    child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));
    // A program that ends before it has read its input reports the reason on its other streams.
    child.stdin.on('error', () => {});
    child.on('error', (cause) => {
      signal?.removeEventListener('abort', kill);
      reject(
        new CausewayError('not-found', `${program} can't be run: ${cause.message}`, { cause }),
      );
    });
    child.on('close', (code) => {
      signal?.removeEventListener('abort', kill);
      if (signal?.aborted === true) reject(abortedBy(signal));
      else resolve({ code: code ?? -1, stdout: stdout.text(), stderr: stderr.text() });
    });
    if (child.pid !== undefined) options.onStart?.(child.pid);
    child.stdin.end(options.input ?? '');
  });
}

class Output {
  #size = 0;
  readonly #chunks: Buffer[] = [];

  add(chunk: Buffer): void {
    if (this.#size > longestOutput) return;
    this.#size += chunk.length;
    this.#chunks.push(chunk);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
