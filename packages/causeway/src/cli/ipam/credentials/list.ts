import { Command } from 'commander';
import { print, speaksWithServer, timeText, withServer } from '../connection.ts';

/** `causeway ipam credentials list`: all credentials without their secrets. */
export function listCredentialsCommand(): Command {
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
