import type { Command } from 'commander';
import { handOver, speaksWithServer, withServer } from '../connection.ts';
import { addressesOf, familiesOf, numberOf, type Flags } from '../flag-values.ts';
import { inUseOption, isInUse, onCluster, reasonOption } from '../shared-options.ts';
import { withdrawalOf } from './self-withdrawal.ts';

/** `causeway ipam clusters create`: creates a cluster with its first credential. */
export function createClusterCommand(): Command {
  const command = onCluster('create')
    .description('create a cluster with its control plane address and first credential')
    .option('--quota <number>', 'maximum number of its addresses')
    .option('--families <list>', 'of the control plane: 4, 6 or 4,6', '4')
    .option('--address <list>', 'requested control plane address')
    .option(...inUseOption)
    .option('--pool <name>', 'the control plane’s pool')
    .option('--no-control-plane', 'the control plane’s address is not from a pool')
    .option(
      '--withdraws-after <time>',
      'its provider stops announcing after this time without contact',
    )
    .option('--grace <time>', 'reclaim this much later', '30s')
    .option('--credential-file <file>', 'write the token to this file instead of printing it')
    .option(...reasonOption);
  return speaksWithServer(command).action(async (site: string, cluster: string, options: Flags) => {
    const named = addressesOf(options['address']);
    const families = named.families.length > 0 ? named.families : familiesOf(options['families']);
    const wantsAddress = command.opts<{ controlPlane: boolean }>().controlPlane;
    const body = {
      cluster,
      quota: numberOf(options['quota'], '--quota'),
      selfWithdrawal: withdrawalOf(options),
      controlPlane: wantsAddress
        ? { families, addresses: named.addresses, inUse: isInUse(command), pool: options['pool'] }
        : undefined,
      reason: options['reason'],
    };
    const answer = await withServer(command, (call) =>
      call('createCluster', { params: { site }, body }),
    );
    const addresses = answer.controlPlane?.addresses ?? [];
    for (const { address, pool } of addresses) {
      process.stdout.write(`${site}/${cluster}: control plane ${address} (pool ${pool})\n`);
    }
    await handOver(answer.token, options['credentialFile']);
  });
}
