import { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { printSites } from './print-sites.ts';

/** `causeway ipam sites list`: all sites with their state. */
export function listSitesCommand(): Command {
  const command = new Command('list').description('list all sites');
  speaksWithServer(command).action(async () => {
    printSites(
      command,
      (await withServer(command, (call) => call('listSites', { params: {} }))).items,
    );
  });
  return command;
}
