import fs from 'node:fs/promises';
import { Command } from 'commander';
import { speaksWithServer, timeText, withServer } from './connection.ts';

/** `causeway ipam backup`: writes the ledger to a file. */
export function backupCommand(): Command {
  const command = new Command('backup')
    .description('write everything but the audit log to a file; it contains hashes of credentials')
    .argument('<file>');
  return speaksWithServer(command).action(async (file: string) => {
    const backup = await withServer(command, (call) => call('backup', { params: {} }));
    await fs.writeFile(file, `${JSON.stringify(backup)}\n`, { mode: 0o600 });
    process.stdout.write(`${backup.entries.length} keys as of ${timeText(backup.at)}\n`);
  });
}
