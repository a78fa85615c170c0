import { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { reasonOption } from '../shared-options.ts';

/** `causeway ipam pools remove`: removes a pool without reservations. */
export function removePoolCommand(): Command {
  const command = new Command('remove').description('remove a pool without reservations');
  speaksWithServer(
    command
      .argument('<site>')
      .argument('<pool>')
      .option(...reasonOption),
  );
  command.action(async (site: string, pool: string, { reason }: { reason?: string }) => {
    const request = { params: { site, pool }, query: { reason } };
    await withServer(command, (call) => call('removePool', request));
  });
  return command;
}
