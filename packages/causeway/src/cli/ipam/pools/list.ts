import { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { printPools } from './print-pools.ts';

/** `causeway ipam pools list`: the pools of a site with their usage. */
export function listPoolsCommand(): Command {
  const command = new Command('list').description('list the pools of a site and their usage');
  speaksWithServer(command.argument('<site>')).action(async (site: string) => {
    const answer = await withServer(command, (call) => call('listPools', { params: { site } }));
    printPools(command, answer.items);
  });
  return command;
}
