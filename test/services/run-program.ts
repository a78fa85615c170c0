import { spawn } from 'node:child_process';
import { patienceMs } from './wait-for.ts';

export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether `timeoutMs` passed before the program ended, so that it was killed. */
  readonly isTimedOut: boolean;
}

export interface ProgramOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly timeoutMs?: number;
}

/** Runs a program to its end. A code other than 0 is a result, not an error. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...options.env },
      cwd: options.cwd,
      timeout: options.timeoutMs ?? patienceMs,
      killSignal: 'SIGKILL',
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({
        code: code ?? -1,
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
        isTimedOut: child.killed,
      }),
    );
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}

/** Runs a program that must succeed, and returns its output. */
export async function runOrThrow(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<string> {
  const result = await runProgram(program, args, options);
  if (result.code !== 0) {
    throw new Error(
      `${program} ${args.join(' ')} ended with ${result.code}: ${result.stderr || result.stdout}`,
    );
  }
  return result.stdout;
}
