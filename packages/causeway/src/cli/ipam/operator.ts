import fs from 'node:fs/promises';
import { Command, Option } from 'commander';
import { familyOf, parseAddress, type Family } from '@causeway/base/address/address';
import { parseDuration } from '@causeway/base/time/duration';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { cloudletImport, parseCloudletIps } from '../../ipam/cloudlet-ips.ts';
import { parsePoolLabels } from '../../ipam/pool-labels.ts';
import { poolAnnouncers } from '../../ipam/records.ts';
import { handOver, print, speaksWithServer, timeText, withServer } from './connection.ts';
import { readTextFile } from '../terminal/read-text-file.ts';
import type { AnswerOf } from '../../ipam/api/operations.ts';

export const reasonOption = ['-r, --reason <text>', 'reason, for the audit log'] as const;

/** Parses a flag's number; `undefined` if it was not given. */
export function numberOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new CausewayError('invalid', `${flag}: ${JSON.stringify(text)} is not a whole number`);
}

const durationOf = (text: string | undefined) =>
  text === undefined ? undefined : parseDuration(text);
const list = (text: string | undefined): string[] =>
  text === undefined ? [] : text.split(',').map((item) => item.trim());

export function sitesCommand(): Command {
  const sites = new Command('sites').description('networks within which an address is unique');
  const set = new Command('set')
    .description('create a site, or change the given settings')
    .argument('<site>')
    .option('--quarantine <time>', 'quarantine of a released address that was seen withdrawn')
    .option('--unconfirmed-quarantine <time>', 'quarantine of other released addresses')
    .option(
      '--keep-for <time>',
      'how long a released address is kept for a Service of the same name',
    )
    .option('--default-quota <number>', 'maximum number of addresses per cluster')
    .option(
      '--lost-after <time>',
      'time without a heartbeat after which a cluster is shown as lost',
    )
    .option(...reasonOption);
  speaksWithServer(set).action(
    async (site: string, options: Record<string, string | undefined>) => {
      const body = {
        quarantineMs: durationOf(options['quarantine']),
        unconfirmedQuarantineMs: durationOf(options['unconfirmedQuarantine']),
        keepMs: durationOf(options['keepFor']),
        defaultQuota: numberOf(options['defaultQuota'], '--default-quota'),
        lostAfterMs: durationOf(options['lostAfter']),
        reason: options['reason'],
      };
      printSites(set, [
        await withServer(set, (call) => call('setSite', { params: { site }, body })),
      ]);
    },
  );
  const show = new Command('list').description('list all sites');
  speaksWithServer(show).action(async () => {
    printSites(show, (await withServer(show, (call) => call('listSites', { params: {} }))).items);
  });
  const resume = new Command('resume')
    .description('end a recovery, after every cluster has confirmed its addresses')
    .argument('<site>')
    .option(...reasonOption);
  speaksWithServer(resume).action(async (site: string, { reason }: { reason?: string }) => {
    const body = { reason };
    const answer = await withServer(resume, (call) =>
      call('resumeSite', { params: { site }, body }),
    );
    printSites(resume, [answer]);
  });
  return sites.addCommand(set).addCommand(show).addCommand(resume);
}

function printSites(command: Command, sites: readonly AnswerOf<'setSite'>[]): void {
  print(command, sites, [
    { title: 'site', value: ({ name }) => name },
    { title: 'pools', value: ({ pools }) => pools.join(',') },
    { title: 'clusters', value: ({ clusters }) => String(clusters) },
    { title: 'waiting', value: ({ waiting }) => String(waiting) },
    { title: 'state', value: ({ suspended }) => suspended?.as ?? 'serving' },
  ]);
}

function setPoolCommand(): Command {
  const set = new Command('set')
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
  speaksWithServer(set).action(
    async (site: string, pool: string, options: Record<string, string | undefined>) => {
      const purposes = list(options['purposes']);
      const body = {
        addresses: list(options['addresses']),
        exclude: list(options['exclude']),
        gateways: list(options['gateways']),
        subnets: list(options['subnets']),
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
      printPools(set, [await withServer(set, (call) => call('setPool', { params, body }))]);
    },
  );
  return set;
}

export function poolsCommand(): Command {
  const pools = new Command('pools').description('address pools of a site');
  const show = new Command('list').description('list the pools of a site and their usage');
  speaksWithServer(show.argument('<site>')).action(async (site: string) => {
    const answer = await withServer(show, (call) => call('listPools', { params: { site } }));
    printPools(show, answer.items);
  });
  const drains = (['drain', 'undrain'] as const).map((name) => {
    const drained = name === 'drain';
    const text = drained
      ? 'assign no more addresses; existing reservations stay'
      : 'assign addresses again';
    const command = new Command(name).description(text).argument('<site>').argument('<pool>');
    speaksWithServer(command.option(...reasonOption));
    return command.action(async (site: string, pool: string, { reason }: { reason?: string }) => {
      const request = { params: { site, pool }, body: { drained, reason } };
      printPools(command, [await withServer(command, (call) => call('drainPool', request))]);
    });
  });
  const remove = new Command('remove').description('remove a pool without reservations');
  speaksWithServer(
    remove
      .argument('<site>')
      .argument('<pool>')
      .option(...reasonOption),
  );
  remove.action(async (site: string, pool: string, { reason }: { reason?: string }) => {
    const request = { params: { site, pool }, query: { reason } };
    await withServer(remove, (call) => call('removePool', request));
  });
  for (const command of [setPoolCommand(), show, ...drains, remove]) pools.addCommand(command);
  return pools;
}

function printPools(command: Command, pools: readonly AnswerOf<'setPool'>[]): void {
  print(command, pools, [
    { title: 'pool', value: ({ name }) => name },
    { title: 'addresses', value: ({ addresses }) => addresses.join(',') },
    { title: 'total', value: ({ usage }) => String(usage.total) },
    {
      title: 'held',
      value: ({ usage: { held, outside = 0 } }) =>
        outside === 0 ? String(held) : `${held} and ${outside} outside`,
    },
    { title: 'quarantined', value: ({ usage }) => String(usage.quarantined) },
    { title: 'free', value: ({ usage }) => String(usage.free) },
    { title: 'drained', value: ({ drained }) => (drained ? 'yes' : '') },
  ]);
}

export function familiesOf(text: string | undefined): Family[] {
  return list(text ?? '4').map((item) => {
    if (item === '4' || item === '6') return item === '4' ? 4 : 6;
    throw new CausewayError('invalid', `--families: ${JSON.stringify(item)} is neither 4 nor 6`);
  });
}

/** Parses addresses, with their families. */
export function addressesOf(text: string | undefined): { addresses: string[]; families: Family[] } {
  const addresses = list(text).map(parseAddress);
  return { addresses, families: addresses.map(familyOf) };
}

export function backupCommand(): Command {
  const command = new Command('backup')
    .description('write everything but the audit log to a file; it contains hashes of credentials')
    .argument('<file>');
  return speaksWithServer(command).action(async (file: string) => {
    const backup = await withServer(command, (call) => call('backup', { params: {} }));
    await fs.writeFile(file, `${JSON.stringify(backup)}\n`, { mode: 0o600 });
    process.stdout.write(`${backup.entries.length} keys as of ${timeText(backup.at)}\n`);
  });
}

export function importCommand(): Command {
  const command = new Command('import-cloudlet')
    .description(
      'take over the addresses of an EdgeXR cloudlet (docs/ipam.md describes the format)',
    )
    .argument('<file>', 'JSON of the CloudletIPs object')
    .option(
      '--credential-directory <directory>',
      'write each cluster’s token to a file in this directory',
    );
  return speaksWithServer(command).action(
    async (file: string, { credentialDirectory }: { credentialDirectory?: string }) => {
      const cloudlet = parseCloudletIps(await readTextFile(file));
      await withServer(command, async (call) => {
        const tokens = await cloudletImport(cloudlet, call);
        for (const [cluster, token] of Object.entries(tokens)) {
          if (credentialDirectory === undefined) continue;
          await handOver(token, `${credentialDirectory}/${cluster}.token`);
        }
        process.stdout.write(`${Object.keys(tokens).length} clusters taken over\n`);
      });
    },
  );
}
