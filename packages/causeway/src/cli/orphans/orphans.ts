import { Command } from 'commander';
import { deleteOrphansCommand } from './delete.ts';
import { listOrphansCommand } from './list.ts';

/** `causeway orphans`: cloud objects of this cluster that no Service uses. */
export function orphansCommand(): Command {
  const orphans = new Command('orphans').description(
    'cloud objects with a mark of this cluster that no Service uses; the controller keeps them until their deletion is confirmed',
  );
  orphans.addCommand(listOrphansCommand(), { isDefault: true });
  orphans.addCommand(deleteOrphansCommand());
  return orphans;
}
