import { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { reasonOption } from '../shared-options.ts';
import { printSites } from './print-sites.ts';

/** `causeway ipam sites resume`: ends the recovery of a site. */
export function resumeSiteCommand(): Command {
  const command = new Command('resume')
    .description('end a recovery, after every cluster has confirmed its addresses')
    .argument('<site>')
    .option(...reasonOption);
  speaksWithServer(command).action(async (site: string, { reason }: { reason?: string }) => {
    const body = { reason };
    const answer = await withServer(command, (call) =>
      call('resumeSite', { params: { site }, body }),
    );
    printSites(command, [answer]);
  });
  return command;
}
