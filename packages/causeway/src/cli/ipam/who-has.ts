import { Command } from 'commander';
import { print, speaksWithServer, timeText, withServer } from './connection.ts';

/** `causeway ipam who-has`: the state of an address. */
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
