import { CommanderError, type Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { ifStillAlive } from '@causeway/base/time/clock';
import { describeError } from './terminal/describe-error.ts';
import { exitCodeOf, exitCodes } from './terminal/exit-code.ts';
import { buildProgram } from './program.ts';

process.on('unhandledRejection', (reason) => {
  // An unhandled rejection is a defect; continuing would hide it.
  process.stderr.write(
    `causeway: unexpected: ${reason instanceof Error ? (reason.stack ?? '') : String(reason)}\n`,
  );
  process.exit(exitCodes.failure);
});

const lingerMs = 5_000;
const program = await buildProgram(process.argv.slice(2));
throwInsteadOfExit(program);
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
  // Open handles must not keep a failed process alive: it has to be restarted.
  ifStillAlive(lingerMs, () => process.exit());
}

function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}

/** Prints the problem and the fix, and returns the exit code. */
function report(thrown: unknown): number {
  if (thrown instanceof CommanderError) {
    return thrown.exitCode === 0 ? exitCodes.success : exitCodes.usage;
  }
  const error = CausewayError.from(thrown);
  process.stderr.write(describeError(error));
  if (error.code === 'internal' || process.env['CAUSEWAY_DEBUG'] !== undefined) {
    process.stderr.write(`${error.stack ?? ''}\n`);
  }
  return exitCodeOf(error.code);
}
