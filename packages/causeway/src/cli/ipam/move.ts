import { Command } from 'commander';
import { moveLedger } from '../../ipam/backup.ts';
import { openLedger } from '../../ipam/open-ledger.ts';
import { systemClock } from '@causeway/base/time/clock';
import { onLedger, readLedgerConfig } from './ledger-session.ts';

/** `causeway ipam move`: copies a ledger into an empty one. */
export function moveCommand(): Command {
  const command = new Command('move')
    .description('copy a ledger into an empty one and close the old one for changes')
    .requiredOption('--to <ledger>', 'sqlite:FILE or etcd:URL,URL…')
    .option('--to-root <root>', 'etcd root of the new ledger');
  return onLedger(command, async (source, signal) => {
    const { to, toRoot } = command.opts<{ to: string; toRoot?: string }>();
    const settings = await readLedgerConfig(command);
    const etcd = toRoot === undefined ? settings.etcd : { ...settings.etcd, root: toRoot };
    const target = await openLedger({ ...settings, ledger: to, etcd }, systemClock);
    try {
      const count = await moveLedger(source, target, systemClock.wallTime(), signal);
      process.stdout.write(`moved ${count} keys to ${to}\n`);
    } finally {
      await target.close();
    }
  });
}
