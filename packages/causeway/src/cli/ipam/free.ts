import type { Command } from 'commander';
import { speaksWithServer, withServer } from './connection.ts';
import { numberOf, type Flags } from './flag-values.ts';
import { onCluster, reasonOption, withdrawnOption } from './shared-options.ts';

/** `causeway ipam free`: releases an owner's reservation. */
export function freeCommand(): Command {
  const command = onCluster('free')
    .description('release the reservation of an owner')
    .requiredOption('--uid <uid>', 'the owner’s UID')
    .option('--fencing-token <number>', 'of the reservation; optional for operators')
    .option(...withdrawnOption)
    .option(...reasonOption);
  return speaksWithServer(command).action(
    async (site: string, cluster: string, options: Flags & { withdrawn?: unknown }) => {
      const query = {
        fencingToken: numberOf(options['fencingToken'], '--fencing-token'),
        withdrawn: options.withdrawn === undefined ? ('false' as const) : ('true' as const),
        reason: options['reason'],
      };
      const params = { site, cluster, uid: options['uid'] ?? '' };
      const { freed } = await withServer(command, (call) => call('free', { params, query }));
      process.stdout.write(freed.length === 0 ? 'nothing to free\n' : `${freed.join('\n')}\n`);
    },
  );
}
