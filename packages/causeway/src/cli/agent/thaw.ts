import type { Command } from 'commander';
import { overrideCommand } from './override-command.ts';

/** `causeway agent thaw`: accepts updates again. */
export function thawAgentCommand(): Command {
  return overrideCommand('thaw', 'frozen', false, 'accept updates again');
}
