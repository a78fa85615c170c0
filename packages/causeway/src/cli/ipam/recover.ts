import { Command } from 'commander';
import { suspendAll } from '../../ipam/backup.ts';
import { systemClock } from '@causeway/base/time/clock';
import { onLedger } from './ledger-session.ts';

/** `causeway ipam recover`: suspends all sites after etcd was restored. */
export function recoverCommand(): Command {
  const command = new Command('recover').description(
    'after etcd itself was restored: no new addresses until the clusters have confirmed theirs',
  );
  return onLedger(command, async (ledger, signal) => {
    const sites = await suspendAll(ledger, 'recovering', systemClock.wallTime(), signal);
    process.stdout.write(`recovering: ${sites.join(', ')}\n`);
  });
}
