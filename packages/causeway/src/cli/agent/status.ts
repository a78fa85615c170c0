import { Command } from 'commander';
import { agentSettings } from '../../gateway/agent/settings.ts';
import { addQueryOptions } from '../config/options.ts';
import { addOutputOption, type OutputFormat } from '../terminal/output.ts';
import { printStatus } from './print-status.ts';
import { socketFlags, withAgent } from './agent-session.ts';

/** `causeway agent status`: state of the gateway on this machine. */
export function agentStatusCommand(): Command {
  const command = new Command('status').description('state of this gateway and its frontends');
  addOutputOption(addQueryOptions(command, agentSettings, socketFlags));
  return command.action(async (options: { output: OutputFormat }) => {
    printStatus(
      options.output,
      await withAgent(command, (client, signal) => client.status(signal)),
    );
  });
}
