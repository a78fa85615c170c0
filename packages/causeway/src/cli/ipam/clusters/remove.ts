import type { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { onCluster, reasonOption, withdrawnOption } from '../shared-options.ts';

/** `causeway ipam clusters remove`: removes a cluster and releases its addresses. */
export function removeClusterCommand(): Command {
  const command = onCluster('remove')
    .description('remove a cluster and release all its addresses')
    .option(...withdrawnOption)
    .option(...reasonOption);
  return speaksWithServer(command).action(
    async (site: string, cluster: string, options: { withdrawn?: boolean; reason?: string }) => {
      const withdrawn = options.withdrawn === true ? ('true' as const) : ('false' as const);
      const request = { params: { site, cluster }, query: { withdrawn, reason: options.reason } };
      const { addresses } = await withServer(command, (call) => call('removeCluster', request));
      process.stdout.write(`${addresses.length} addresses are in quarantine now\n`);
    },
  );
}
