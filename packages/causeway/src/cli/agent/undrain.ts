import type { Command } from 'commander';
import { overrideCommand } from './override-command.ts';

/** `causeway agent undrain`: takes addresses again. */
export function undrainAgentCommand(): Command {
  return overrideCommand('undrain', 'drained', false, 'take addresses again');
}
