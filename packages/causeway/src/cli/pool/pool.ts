import { Command } from 'commander';
import { checkPoolCommand } from './check.ts';

/** `causeway pool`: this cluster and the shared ledger. */
export function poolCommand(): Command {
  return new Command('pool')
    .description('compare this cluster with the shared ledger')
    .addCommand(checkPoolCommand());
}
