import { Command } from 'commander';
import { parseDuration } from '@causeway/base/time/duration';
import { systemClock } from '@causeway/base/time/clock';
import { handOver, print, speaksWithServer, timeText, withServer } from './connection.ts';
import { numberOf, reasonOption } from './operator.ts';

type Flags = Record<string, string | undefined>;

export function whoHasCommand(): Command {
  const command = new Command('who-has')
    .description('the state of an address')
    .argument('<site>')
    .argument('<address>');
  return speaksWithServer(command).action(async (site: string, address: string) => {
    const request = { params: { site, address } };
    const answer = await withServer(command, (call) => call('whoHas', request));
    print(
      command,
      [answer],
      [
        { title: 'address', value: (row) => row.address },
        { title: 'state', value: (row) => row.state },
        { title: 'pool', value: (row) => row.pool ?? '' },
        { title: 'cluster', value: (row) => row.cluster ?? '' },
        {
          title: 'owners',
          value: (row) =>
            (row.owners ?? [])
              .map(({ uid, namespace, name }) =>
                typeof name === 'string' ? `${String(namespace)}/${name}` : uid,
              )
              .join(','),
        },
        { title: 'until', value: (row) => timeText(row.until) },
      ],
    );
  });
}

export function historyCommand(): Command {
  const command = new Command('history')
    .description('the audit log: each change with its author, time and reason; newest first')
    .argument('[site]')
    .argument('[address]')
    .option('--cluster <name>', 'only of this cluster')
    .option('--action <name>', 'for example reserve, free, remove-cluster')
    .option('--since <time>', 'not older than this, such as 2h')
    .option('--limit <number>', 'maximum number of entries', '100');
  return speaksWithServer(command).action(
    async (site: string | undefined, address: string | undefined, options: Flags) => {
      const since = options['since'];
      const query = {
        site,
        address,
        cluster: options['cluster'],
        action: options['action'],
        since: since === undefined ? undefined : systemClock.wallTime() - parseDuration(since),
        limit: numberOf(options['limit'], '--limit'),
      };
      const answer = await withServer(command, (call) => call('audit', { params: {}, query }));
      print(command, answer.records, [
        { title: 'when', value: ({ at }) => timeText(at) },
        { title: 'actor', value: ({ actor }) => actor },
        { title: 'what', value: ({ action }) => action },
        { title: 'cluster', value: (row) => row.cluster ?? '' },
        { title: 'addresses', value: ({ addresses = [] }) => addresses.join(',') },
        { title: 'owner', value: ({ owner }) => owner ?? '' },
        { title: 'why', value: ({ reason }) => reason ?? '' },
      ]);
    },
  );
}

export function credentialsCommand(): Command {
  const credentials = new Command('credentials').description('credentials of the API');
  for (const command of [listCommand(), issueCommand(), rotateCommand(), revokeCommand()]) {
    credentials.addCommand(command);
  }
  return credentials;
}

function listCommand(): Command {
  const command = new Command('list').description('list all credentials, without their secrets');
  return speaksWithServer(command).action(async () => {
    const answer = await withServer(command, (call) => call('listCredentials', { params: {} }));
    print(command, answer.items, [
      { title: 'id', value: ({ id }) => id },
      { title: 'role', value: ({ role }) => role },
      { title: 'kind', value: ({ kind }) => kind },
      {
        title: 'cluster',
        value: ({ site, cluster }) => (site === undefined ? '' : `${site}/${cluster}`),
      },
      { title: 'note', value: ({ note }) => note ?? '' },
      { title: 'created', value: ({ createdAt }) => timeText(createdAt) },
      { title: 'expires', value: ({ expiresAt }) => timeText(expiresAt) },
    ]);
  });
}

function issueCommand(): Command {
  const command = new Command('issue')
    .description('create a credential for a cluster, or for an operator if none is named')
    .argument('[site]')
    .argument('[cluster]')
    .option('--note <text>', 'name of its owner')
    .option('--lifetime <time>', 'expires after')
    .option('--certificate <sha256>', 'register a client certificate by its SHA-256 instead')
    .option('--credential-file <file>', 'write the token to this file instead of printing it')
    .option(...reasonOption);
  return speaksWithServer(command).action(
    async (site: string | undefined, cluster: string | undefined, options: Flags) => {
      const lifetime = options['lifetime'];
      const body = {
        note: options['note'],
        lifetimeMs: lifetime === undefined ? undefined : parseDuration(lifetime),
        certificate: options['certificate']?.replaceAll(':', '').toLowerCase(),
        reason: options['reason'],
      };
      const issued = await withServer(command, (call) =>
        site === undefined || cluster === undefined
          ? call('issueOperatorCredential', { params: {}, body })
          : call('issueClusterCredential', { params: { site, cluster }, body }),
      );
      if (issued.token !== undefined) await handOver(issued.token, options['credentialFile']);
    },
  );
}

function rotateCommand(): Command {
  const command = new Command('rotate')
    .description('replace the token of this command; the old one stays valid for a while')
    .argument('<site>')
    .argument('<cluster>')
    .option('--overlap <time>', 'how long the old token stays valid', '10m')
    .option('--credential-file <file>', 'write the token to this file instead of printing it');
  return speaksWithServer(command).action(async (site: string, cluster: string, options: Flags) => {
    const body = { overlapMs: parseDuration(options['overlap'] ?? '10m') };
    const request = { params: { site, cluster }, body };
    const { token } = await withServer(command, (call) => call('rotateCredential', request));
    if (token !== undefined) await handOver(token, options['credentialFile']);
  });
}

function revokeCommand(): Command {
  const command = new Command('revoke')
    .description('revoke a credential at once, on every server')
    .argument('<id>')
    .option(...reasonOption);
  return speaksWithServer(command).action(async (id: string, { reason }: { reason?: string }) => {
    const request = { params: { id }, query: { reason } };
    const { revoked } = await withServer(command, (call) => call('revokeCredential', request));
    process.stdout.write(revoked ? 'revoked\n' : 'there is no such credential\n');
  });
}
