import { Command, Option } from 'commander';
import { parsePoolLabels } from '../../../ipam/pool-labels.ts';
import { poolAnnouncers } from '../../../ipam/records.ts';
import { speaksWithServer, withServer } from '../connection.ts';
import { listOf } from '../flag-values.ts';
import { reasonOption } from '../shared-options.ts';
import { printPools } from './print-pools.ts';

/** `causeway ipam pools set`: creates or replaces a pool. */
export function setPoolCommand(): Command {
  const command = new Command('set')
    .description('create or replace a pool; existing reservations stay')
    .argument('<site>')
    .argument('<pool>')
    .requiredOption('--addresses <list>', 'addresses, ranges a-b and networks')
    .option('--exclude <list>', 'addresses of these that are never assigned')
    .option('--gateways <list>', 'routers, never assigned')
    .option(
      '--subnets <list>',
      'networks of the ranges; their network and broadcast addresses are never assigned',
    )
    .option('--priority <number>', 'higher is preferred')
    .option('--labels <list>', 'name=value')
    .option('--purposes <list>', 'control-plane, load-balancer')
    .addOption(
      new Option(
        '--announcer <name>',
        'announcer of its addresses; clusters detect it if not set',
      ).choices(poolAnnouncers),
    )
    .option('--platform <name>', 'platform of the server that its addresses are registered at')
    .option(...reasonOption);
  speaksWithServer(command).action(
    async (site: string, pool: string, options: Record<string, string | undefined>) => {
      const purposes = listOf(options['purposes']);
      const body = {
        addresses: listOf(options['addresses']),
        exclude: listOf(options['exclude']),
        gateways: listOf(options['gateways']),
        subnets: listOf(options['subnets']),
        priority: options['priority'] === undefined ? 0 : Number(options['priority']),
        announcer: poolAnnouncers.find((name) => name === options['announcer']),
        platform: options['platform'],
        labels: parsePoolLabels(options['labels'] ?? ''),
        ...(purposes.length === 0
          ? {}
          : { purposes: purposes as ('control-plane' | 'load-balancer')[] }),
        reason: options['reason'],
      };
      const params = { site, pool };
      printPools(command, [await withServer(command, (call) => call('setPool', { params, body }))]);
    },
  );
  return command;
}
