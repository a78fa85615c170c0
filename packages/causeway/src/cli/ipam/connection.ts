import type { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { IpamClient } from '../../ipam/api/client.ts';
import type { AnswerOf, OperationName, RequestOf } from '../../ipam/api/operations.ts';
import { writeToken } from '../../ipam/init.ts';
import { readIfNamed } from '../../ipam/open-ledger.ts';
import { ipamClientSettings } from '../../ipam/settings.ts';
import { systemClock } from '@causeway/base/time/clock';
import { addConfigOptions, readConfig } from '../config/options.ts';
import {
  addOutputOption,
  printObjects,
  type Column,
  type OutputFormat,
} from '../terminal/output.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

export type Call = <Name extends OperationName>(
  name: Name,
  input: RequestOf<Name>,
) => Promise<AnswerOf<Name>>;

/** Adds the options to reach a server, and `--output`, to a command. */
export function speaksWithServer(command: Command): Command {
  return addOutputOption(addConfigOptions(command, ipamClientSettings));
}

/** Runs the command's work with a client and closes it afterwards. */
export async function withServer<T>(
  command: Command,
  work: (call: Call) => Promise<T>,
): Promise<T> {
  const settings = await readConfig(command, ipamClientSettings);
  const { tokenFile } = settings;
  const client = new IpamClient({
    urls: settings.server,
    // Read at each call: a token is rotated by replacing the file.
    token:
      tokenFile === undefined
        ? undefined
        : async () => ((await readIfNamed(tokenFile)) ?? '').trim(),
    tls: {
      ca: await readIfNamed(settings.caFile),
      certificate: await readIfNamed(settings.certificateFile),
      key: await readIfNamed(settings.keyFile),
    },
    clock: systemClock,
  });
  const signal = stopSignal();
  try {
    return await work((name, input) => client.call(name, input, signal));
  } catch (thrown) {
    const error = CausewayError.from(thrown);
    if (error.code !== 'unavailable' || error.hint !== undefined) throw thrown;
    throw new CausewayError('unavailable', error.message, {
      cause: error,
      hint: 'Name the allocator with --server or CAUSEWAY_SERVER, and check that it is running there.',
    });
  } finally {
    await client.close();
  }
}

export function print<Row extends object>(
  command: Command,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): void {
  printObjects(command.opts<{ output: OutputFormat }>().output, rows, columns);
}

/** Writes a secret to a file, or to standard output if requested. */
export async function handOver(secret: string, file: string | undefined): Promise<void> {
  if (file === undefined) {
    process.stdout.write(`${secret}\n`);
    return;
  }
  await writeToken(secret, file);
}

export const timeText = (at: number | undefined): string =>
  at === undefined ? '' : new Date(at).toISOString();
