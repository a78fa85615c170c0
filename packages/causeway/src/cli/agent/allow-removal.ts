import type { Command } from 'commander';
import { overrideCommand } from './override-command.ts';

/** `causeway agent allow-removal`: applies withheld removals. */
export function allowRemovalCommand(): Command {
  return overrideCommand(
    'allow-removal',
    'removal',
    true,
    'apply the removals that are withheld, or all of those in the next update',
  );
}
