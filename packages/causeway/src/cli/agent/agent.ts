import { Command } from 'commander';
import { allowRemovalCommand } from './allow-removal.ts';
import { cleanUpAgentCommand } from './cleanup.ts';
import { drainAgentCommand } from './drain.ts';
import { freezeAgentCommand } from './freeze.ts';
import { refuseRemovalCommand } from './refuse-removal.ts';
import { runAgentCommand } from './run.ts';
import { agentStatusCommand } from './status.ts';
import { thawAgentCommand } from './thaw.ts';
import { undoAgentCommand } from './undo.ts';
import { undrainAgentCommand } from './undrain.ts';

/** `causeway agent`: the gateway's agent, and an operator's overrides. */
export function agentCommand(): Command {
  const agent = new Command('agent').description(
    'program a gateway: nftables rules and announced addresses',
  );
  agent.addCommand(runAgentCommand(), { isDefault: true });
  const commands = [
    agentStatusCommand(),
    drainAgentCommand(),
    undrainAgentCommand(),
    freezeAgentCommand(),
    thawAgentCommand(),
    allowRemovalCommand(),
    refuseRemovalCommand(),
    undoAgentCommand(),
    cleanUpAgentCommand(),
  ];
  for (const command of commands) agent.addCommand(command);
  return agent;
}
