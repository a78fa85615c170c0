import type { Command } from 'commander';
import { overrideCommand } from './override-command.ts';

/** `causeway agent freeze`: rejects updates. */
export function freezeAgentCommand(): Command {
  return overrideCommand('freeze', 'frozen', true, 'reject updates until thawed');
}
