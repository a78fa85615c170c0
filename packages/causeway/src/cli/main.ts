import { CommanderError, type Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { ifStillAlive } from '@causeway/base/time/clock';
import { describeError } from './terminal/describe-error.ts';
import { exitCodeOf, exitCodes } from './terminal/exit-code.ts';
import { buildProgram } from './program.ts';

process.on('unhandledRejection', (reason) => {
  // A promise that nobody waited for is a defect; going on would hide it.
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
  // Whatever does not end by itself must not keep a process alive that has failed: it is to be started again.
  ifStillAlive(lingerMs, () => process.exit());
}

function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}

/** Says what was wrong and what to do, and answers with the exit code that means it. */
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
