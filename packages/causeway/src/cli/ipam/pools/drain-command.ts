import { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { reasonOption } from '../shared-options.ts';
import { printPools } from './print-pools.ts';

/** A command that starts or ends the drain of a pool. */
export function drainCommand(name: string, drained: boolean, description: string): Command {
  const command = new Command(name).description(description).argument('<site>').argument('<pool>');
  speaksWithServer(command.option(...reasonOption));
  return command.action(async (site: string, pool: string, { reason }: { reason?: string }) => {
    const request = { params: { site, pool }, body: { drained, reason } };
    printPools(command, [await withServer(command, (call) => call('drainPool', request))]);
  });
}
