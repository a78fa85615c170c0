import { Command } from 'commander';
import type { OverrideName } from '../../gateway/protocol/override.ts';
import { agentSettings } from '../../gateway/agent/settings.ts';
import { addQueryOptions } from '../config/options.ts';
import { addOutputOption, type OutputFormat } from '../terminal/output.ts';
import { printStatus } from './print-status.ts';
import { reasonOption, socketFlags, withAgent } from './agent-session.ts';

/** A command that sets or clears one of the overrides of the agent on this machine. */
export function overrideCommand(
  name: string,
  override: OverrideName,
  on: boolean,
  description: string,
): Command {
  const command = new Command(name).description(description).option(...reasonOption);
  addOutputOption(addQueryOptions(command, agentSettings, socketFlags));
  return command.action(async (options: { output: OutputFormat; reason?: string }) => {
    const status = await withAgent(command, (client, signal) =>
      client.pull(override, on, options.reason, signal),
    );
    printStatus(options.output, status);
  });
}
