import type { Command } from 'commander';
import { overrideCommand } from './override-command.ts';

/** `causeway agent drain`: gives up all addresses. */
export function drainAgentCommand(): Command {
  return overrideCommand('drain', 'drained', true, 'give up all addresses, for maintenance');
}
