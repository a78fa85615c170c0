import fs from 'node:fs/promises';
import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { backupSchema, restoreBackup } from '../../ipam/backup.ts';
import { systemClock } from '@causeway/base/time/clock';
import { onLedger } from './ledger-session.ts';

/** `causeway ipam restore`: restores an empty ledger from a backup. */
export function restoreCommand(): Command {
  const command = new Command('restore')
    .description('restore an empty ledger from a backup; its sites start in recovery')
    .argument('<file>', 'file written by "causeway ipam backup"');
  return onLedger(command, async (ledger, signal) => {
    const [file = ''] = command.args;
    const backup = await readBackup(file);
    const now = systemClock.wallTime();
    const count = await restoreBackup(ledger, backup, 'restore', now, signal);
    process.stdout.write(
      `restored ${count} keys; no new addresses until "causeway ipam sites resume SITE"\n`,
    );
  });
}

async function readBackup(file: string) {
  const text = await fs.readFile(file, 'utf8').catch((error: unknown) => {
    throw new CausewayError('not-found', `${file} can't be read`, { cause: error });
  });
  try {
    return backupSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new CausewayError('invalid', `${file} is not a backup of the allocator`, {
      cause: error,
    });
  }
}
