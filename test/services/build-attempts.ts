import { MissingError } from './missing.ts';
import { runProgram, type ProgramOptions } from './run-program.ts';

const attempts = 3;

export interface Build {
  /** For messages: the name of the program that is built. */
  readonly name: string;
  readonly compiler: string;
  readonly args: readonly string[];
  readonly options: ProgramOptions;
  /** The time limit of the first attempt. Each further attempt has twice the time. */
  readonly timeoutMs: number;
}

/**
 * Runs a compiler. An attempt that exceeds its time limit is repeated: the machine is busy, and the
 * compiler's cache keeps the finished parts. A compiler that reports an error is not repeated.
 */
export async function runBuild(build: Build): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const timeoutMs = build.timeoutMs * 2 ** attempt;
    const result = await runProgram(build.compiler, build.args, { ...build.options, timeoutMs });
    if (result.code === 0) return;
    if (!result.isTimedOut) {
      throw new MissingError(`${build.name} could not be built: ${result.stderr.trim()}`);
    }
    process.stderr.write(`The build of ${build.name} exceeded ${timeoutMs / 1000} s.\n`);
  }
  throw new MissingError(
    `${build.name} could not be built: ${attempts} attempts exceeded their time limits`,
  );
}
