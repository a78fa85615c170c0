import type { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { onCluster, reasonOption, withdrawnOption } from '../shared-options.ts';

/** `causeway ipam clusters reclaim`: takes the addresses of a lost cluster back. */
export function reclaimClusterCommand(): Command {
  const command = onCluster('reclaim')
    .description(
      'reclaim all addresses of a lost cluster; it keeps its name and credentials. Stop kube-vip there first',
    )
    .option(...withdrawnOption)
    .requiredOption(...reasonOption);
  return speaksWithServer(command).action(
    async (site: string, cluster: string, options: { withdrawn?: boolean; reason: string }) => {
      const body = { withdrawn: options.withdrawn === true, reason: options.reason };
      const request = { params: { site, cluster }, body };
      const { addresses } = await withServer(command, (call) => call('reclaimCluster', request));
      process.stdout.write(`${addresses.length} addresses are in quarantine now\n`);
    },
  );
}
