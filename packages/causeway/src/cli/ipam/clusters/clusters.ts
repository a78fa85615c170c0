import { Command } from 'commander';
import { createClusterCommand } from './create.ts';
import { listClustersCommand } from './list.ts';
import { reclaimClusterCommand } from './reclaim.ts';
import { removeClusterCommand } from './remove.ts';
import { setClusterCommand } from './set.ts';

/** `causeway ipam clusters`: clusters that use a site's pools. */
export function clustersCommand(): Command {
  const clusters = new Command('clusters').description('clusters that use a site’s pools');
  const commands = [
    createClusterCommand(),
    listClustersCommand(),
    setClusterCommand(),
    removeClusterCommand(),
    reclaimClusterCommand(),
  ];
  for (const command of commands) clusters.addCommand(command);
  return clusters;
}
