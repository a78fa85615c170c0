import type { Command } from 'commander';
import { overrideCommand } from './override-command.ts';

/** `causeway agent refuse-removal`: revokes `allow-removal`. */
export function refuseRemovalCommand(): Command {
  return overrideCommand(
    'refuse-removal',
    'removal',
    false,
    'revoke that, if no update has arrived yet',
  );
}
