import type { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { numberOf, type Flags } from '../flag-values.ts';
import { onCluster, reasonOption } from '../shared-options.ts';
import { printClusters } from './print-clusters.ts';
import { withdrawalOf } from './self-withdrawal.ts';

/** `causeway ipam clusters set`: changes a cluster's quota or self-withdrawal. */
export function setClusterCommand(): Command {
  const command = onCluster('set')
    .description('change a cluster’s quota or its self-withdrawal')
    .option('--quota <number>', 'maximum number of its addresses; "none" for the site’s default')
    .option(
      '--withdraws-after <time>',
      'reclaim its addresses this long after its last heartbeat, if the heartbeat promised to withdraw; "never" disables it',
    )
    .option('--grace <time>', 'reclaim this much later', '30s')
    .option(...reasonOption);
  return speaksWithServer(command).action(async (site: string, cluster: string, options: Flags) => {
    const body = {
      quota: options['quota'] === 'none' ? null : numberOf(options['quota'], '--quota'),
      selfWithdrawal: options['withdrawsAfter'] === 'never' ? null : withdrawalOf(options),
      reason: options['reason'],
    };
    const request = { params: { site, cluster }, body };
    printClusters(command, [
      await withServer(command, (call) => call('configureCluster', request)),
    ]);
  });
}
