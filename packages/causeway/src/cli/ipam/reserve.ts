import type { Command } from 'commander';
import { parseDuration } from '@causeway/base/time/duration';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePoolLabels } from '../../ipam/pool-labels.ts';
import { speaksWithServer, withServer } from './connection.ts';
import { addressesOf, familiesOf, type Flags } from './flag-values.ts';
import { inUseOption, isInUse, onCluster, reasonOption } from './shared-options.ts';
import { printReservations } from './print-reservations.ts';

/** `causeway ipam reserve`: reserves addresses for an owner. */
export function reserveCommand(): Command {
  const command = onCluster('reserve')
    .description('reserve addresses for an owner; the same owner gets the same addresses again')
    .requiredOption('--uid <uid>', 'the owner’s UID')
    .option('--service <namespace/name>', 'the owner’s name, to get its earlier address again')
    .option('--families <list>', '4, 6 or 4,6', '4')
    .option('--address <list>', 'requested addresses')
    .option(...inUseOption)
    .option('--pool <name>', 'from this pool only')
    .option('--pool-labels <list>', 'from pools with these labels only: name=value')
    .option('--sharing-key <key>', 'share with owners of the same cluster and key')
    .option('--ports <list>', 'such as TCP/443: sharing owners need different ones')
    .option('--wait <time>', 'wait this long if no address is available')
    .option(...reasonOption);
  return speaksWithServer(command).action(async (site: string, cluster: string, options: Flags) => {
    const named = addressesOf(options['address']);
    const families = named.families.length > 0 ? named.families : familiesOf(options['families']);
    const body = {
      uid: options['uid'] ?? '',
      ...serviceOf(options['service']),
      families,
      addresses: named.addresses,
      inUse: isInUse(command),
      pool: options['pool'],
      poolLabels: parsePoolLabels(options['poolLabels'] ?? ''),
      sharingKey: options['sharingKey'],
      ports: options['ports']?.split(','),
      waitMs: options['wait'] === undefined ? undefined : parseDuration(options['wait']),
      reason: options['reason'],
    };
    const request = { params: { site, cluster }, body };
    const answer = await withServer(command, (call) => call('reserve', request));
    if (answer.state === 'waiting') {
      throw new CausewayError('exhausted', `still waiting, at position ${answer.position}`, {
        hint: 'Repeat the command to keep the position.',
      });
    }
    printReservations(command, [answer.reservation]);
  });
}

function serviceOf(text: string | undefined): { namespace?: string; name?: string } {
  if (text === undefined) return {};
  const [namespace, name, ...more] = text.split('/');
  if (namespace === undefined || name === undefined || more.length > 0) {
    throw new CausewayError('invalid', `--service: ${JSON.stringify(text)} is not namespace/name`);
  }
  return { namespace, name };
}
