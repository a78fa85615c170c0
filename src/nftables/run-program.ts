import { spawn } from 'node:child_process';
import { CausewayError } from '../domain/error.ts';
import { abortedBy } from '../runtime/clock.ts';

export interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  /** Run it inside this network namespace. */
  readonly networkNamespace?: string | undefined;
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
  readonly onSpawn?: (pid: number) => void;
}

/** Runs a program with arguments as they are, no shell between; resolves however it ends. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const { networkNamespace, input = '', signal, onSpawn } = options;
  if (signal?.aborted === true) return Promise.reject(abortedBy(signal));
  const [command, ...rest] =
    networkNamespace === undefined
      ? [program, ...args]
      : ['nsenter', `--net=${networkNamespace}`, program, ...args];
  return new Promise((resolve, reject) => {
    const child = spawn(command ?? program, rest, { stdio: 'pipe' });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const onAbort = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', onAbort, { once: true });
    child.on('error', (cause) => {
      signal?.removeEventListener('abort', onAbort);
      reject(
        new CausewayError('unavailable', `${program} could not be started`, {
          cause,
          hint: `Install the package that provides ${program}.`,
        }),
      );
    });
    child.on('close', (code) => {
      signal?.removeEventListener('abort', onAbort);
      if (signal?.aborted === true) reject(abortedBy(signal));
      else resolve({ code, ...output });
    });
    // A program that ends without reading its input closes the pipe; its exit code says why.
    child.stdin.on('error', () => undefined);
    if (child.pid !== undefined) onSpawn?.(child.pid);
    child.stdin.end(input);
  });
}
