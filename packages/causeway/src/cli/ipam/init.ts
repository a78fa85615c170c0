import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { createFirstOperator, createOperator } from '../../ipam/init.ts';
import { systemClock } from '@causeway/base/time/clock';
import { handOver } from './connection.ts';
import { onLedger } from './ledger-session.ts';

interface InitOptions {
  readonly name: string;
  readonly credentialFile?: string;
  readonly once?: boolean;
}

/** `causeway ipam init`: creates an operator's credential in a ledger. */
export function initCommand(): Command {
  const command = new Command('init')
    .description('create an operator’s credential in a ledger, for the first time or after a loss')
    .option('--name <text>', 'name of its owner, for the audit log', 'first')
    .option('--credential-file <file>', 'write the token to this file instead of printing it')
    .option('--once', 'only if the ledger has no operator yet; requires --credential-file');
  return onLedger(command, async (ledger, signal) => {
    const { name, credentialFile, once } = command.opts<InitOptions>();
    const now = systemClock.wallTime();
    if (once !== true) {
      await handOver(await createOperator(ledger, name, now, signal), credentialFile);
      return;
    }
    if (credentialFile === undefined) {
      throw new CausewayError('invalid', '--once requires --credential-file');
    }
    const isMade = await createFirstOperator(ledger, credentialFile, name, now, signal);
    const made = `the first operator's token is in ${credentialFile}`;
    process.stdout.write(`${isMade ? made : 'the ledger already has an operator'}\n`);
  });
}
