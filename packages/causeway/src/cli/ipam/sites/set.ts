import { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { durationOf, numberOf } from '../flag-values.ts';
import { reasonOption } from '../shared-options.ts';
import { printSites } from './print-sites.ts';

/** `causeway ipam sites set`: creates or changes a site. */
export function setSiteCommand(): Command {
  const command = new Command('set')
    .description('create a site, or change the given settings')
    .argument('<site>')
    .option('--quarantine <time>', 'quarantine of a released address that was seen withdrawn')
    .option('--unconfirmed-quarantine <time>', 'quarantine of other released addresses')
    .option(
      '--keep-for <time>',
      'how long a released address is kept for a Service of the same name',
    )
    .option('--default-quota <number>', 'maximum number of addresses per cluster')
    .option(
      '--lost-after <time>',
      'time without a heartbeat after which a cluster is shown as lost',
    )
    .option(...reasonOption);
  speaksWithServer(command).action(
    async (site: string, options: Record<string, string | undefined>) => {
      const body = {
        quarantineMs: durationOf(options['quarantine']),
        unconfirmedQuarantineMs: durationOf(options['unconfirmedQuarantine']),
        keepMs: durationOf(options['keepFor']),
        defaultQuota: numberOf(options['defaultQuota'], '--default-quota'),
        lostAfterMs: durationOf(options['lostAfter']),
        reason: options['reason'],
      };
      printSites(command, [
        await withServer(command, (call) => call('setSite', { params: { site }, body })),
      ]);
    },
  );
  return command;
}
