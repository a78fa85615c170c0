import { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { printClusters } from './print-clusters.ts';

/** `causeway ipam clusters list`: the clusters of a site. */
export function listClustersCommand(): Command {
  const command = new Command('list').argument('<site>').description('list the clusters of a site');
  return speaksWithServer(command).action(async (site: string) => {
    const answer = await withServer(command, (call) => call('listClusters', { params: { site } }));
    printClusters(command, answer.items);
  });
}
