import { Command } from 'commander';
import { parseDuration } from '@causeway/base/time/duration';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { AnswerOf } from '../../ipam/api/operations.ts';
import { parsePoolLabels } from '../../ipam/pool-labels.ts';
import { handOver, print, speaksWithServer, timeText, withServer } from './connection.ts';
import { addressesOf, familiesOf, numberOf, reasonOption } from './operator.ts';

type Flags = Record<string, string | undefined>;
const onCluster = (name: string) => new Command(name).argument('<site>').argument('<cluster>');

export function clustersCommand(): Command {
  const clusters = new Command('clusters').description('clusters that use a site’s pools');
  const commands = [
    createCommand(),
    listCommand(),
    setCommand(),
    removeCommand(),
    reclaimCommand(),
  ];
  for (const command of commands) clusters.addCommand(command);
  return clusters;
}

const inUseOption = [
  '--in-use',
  'the named addresses are in use already; accepted while a site recovers',
] as const;
const isInUse = (command: Command) => command.opts<{ inUse?: boolean }>().inUse;

function createCommand(): Command {
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

function withdrawalOf(options: Flags) {
  const after = options['withdrawsAfter'];
  if (after === undefined) return undefined;
  return { afterMs: parseDuration(after), graceMs: parseDuration(options['grace'] ?? '30s') };
}

function listCommand(): Command {
  const command = new Command('list').argument('<site>').description('list the clusters of a site');
  return speaksWithServer(command).action(async (site: string) => {
    const answer = await withServer(command, (call) => call('listClusters', { params: { site } }));
    printClusters(command, answer.items);
  });
}

function setCommand(): Command {
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

const withdrawnOption = [
  '--withdrawn',
  'an operator has verified that nothing is announced any more: use the shorter quarantine',
] as const;

function removeCommand(): Command {
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

function reclaimCommand(): Command {
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

function printClusters(command: Command, clusters: readonly AnswerOf<'getCluster'>[]): void {
  print(command, clusters, [
    { title: 'cluster', value: ({ cluster }) => cluster },
    { title: 'health', value: ({ health }) => health },
    { title: 'last heartbeat', value: ({ lastHeartbeat }) => timeText(lastHeartbeat) },
    // If addresses are reclaimed without this promise, the cluster may still be announcing them.
    { title: 'promise', value: ({ withdrawsAfterMs }) => promiseText(withdrawsAfterMs) },
    { title: 'addresses', value: ({ addresses }) => String(addresses) },
    { title: 'quota', value: ({ quota }) => String(quota ?? '') },
  ]);
}

function promiseText(withdrawsAfterMs: number | undefined): string {
  return withdrawsAfterMs === undefined ? 'none' : `withdraws after ${withdrawsAfterMs / 1000} s`;
}

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

export function reservationsCommand(): Command {
  const command = onCluster('reservations').description('list the reservations of a cluster');
  return speaksWithServer(command).action(async (site: string, cluster: string) => {
    const request = { params: { site, cluster } };
    const answer = await withServer(command, (call) => call('listReservations', request));
    printReservations(command, answer.items);
  });
}

function printReservations(
  command: Command,
  items: readonly AnswerOf<'listReservations'>['items'][number][],
): void {
  print(command, items, [
    {
      title: 'addresses',
      value: ({ addresses }) => addresses.map((each) => each.address).join(','),
    },
    {
      title: 'owner',
      value: ({ namespace, name, purpose }) =>
        name === undefined ? purpose : `${namespace}/${name}`,
    },
    { title: 'uid', value: ({ uid }) => uid },
    { title: 'fence', value: ({ fence }) => String(fence) },
    { title: 'since', value: ({ since }) => timeText(since) },
  ]);
}

export function freeCommand(): Command {
  const command = onCluster('free')
    .description('release the reservation of an owner')
    .requiredOption('--uid <uid>', 'the owner’s UID')
    .option('--fence <number>', 'of the reservation; optional for operators')
    .option(...withdrawnOption)
    .option(...reasonOption);
  return speaksWithServer(command).action(
    async (site: string, cluster: string, options: Flags & { withdrawn?: unknown }) => {
      const query = {
        fence: numberOf(options['fence'], '--fence'),
        withdrawn: options.withdrawn === undefined ? ('false' as const) : ('true' as const),
        reason: options['reason'],
      };
      const params = { site, cluster, uid: options['uid'] ?? '' };
      const { freed } = await withServer(command, (call) => call('free', { params, query }));
      process.stdout.write(freed.length === 0 ? 'nothing to free\n' : `${freed.join('\n')}\n`);
    },
  );
}
