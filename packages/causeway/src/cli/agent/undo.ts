import { Command } from 'commander';
import { agentSettings } from '../../gateway/agent/settings.ts';
import { addQueryOptions } from '../config/options.ts';
import { addOutputOption, type OutputFormat } from '../terminal/output.ts';
import { printStatus } from './print-status.ts';
import { reasonOption, socketFlags, withAgent } from './agent-session.ts';

/** `causeway agent undo`: restores the state before the last change. */
export function undoAgentCommand(): Command {
  const command = new Command('undo')
    .description('restore the state before the last change, and freeze')
    .requiredOption(...reasonOption);
  addOutputOption(addQueryOptions(command, agentSettings, socketFlags));
  return command.action(async (options: { output: OutputFormat; reason: string }) => {
    const status = await withAgent(command, async (client, signal) => {
      await client.undo(options.reason, signal);
      return client.status(signal);
    });
    printStatus(options.output, status);
  });
}
