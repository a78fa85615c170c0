import { Command } from 'commander';
import { parseDuration } from '@causeway/base/time/duration';
import { systemClock } from '@causeway/base/time/clock';
import { print, speaksWithServer, timeText, withServer } from './connection.ts';
import { numberOf, type Flags } from './flag-values.ts';

/** `causeway ipam history`: the audit log. */
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
