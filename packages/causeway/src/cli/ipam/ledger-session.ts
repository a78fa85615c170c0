import type { Command } from 'commander';
import type { Ledger } from '../../ipam/ledger.ts';
import { openLedger } from '../../ipam/open-ledger.ts';
import {
  ipamLedgerSettings,
  ipamServerSettings,
  type IpamLedgerSettings,
} from '../../ipam/settings.ts';
import { systemClock } from '@causeway/base/time/clock';
import { addConfigOptions, readConfig } from '../config/options.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

/** Makes a command that uses the ledger directly, without a server or an operator's credential. */
export function onLedger(
  command: Command,
  work: (ledger: Ledger, signal: AbortSignal) => Promise<void>,
): Command {
  addConfigOptions(command, ipamLedgerSettings);
  return command.action(async () => {
    const ledger = await openLedger(await readLedgerConfig(command), systemClock);
    try {
      await work(ledger, stopSignal());
    } finally {
      await ledger.close();
    }
  });
}

/**
 * The file may be the server's: settings that are not about its ledger have no flags here and are ignored.
 */
export function readLedgerConfig(command: Command): Promise<IpamLedgerSettings> {
  return readConfig(command, ipamServerSettings);
}
