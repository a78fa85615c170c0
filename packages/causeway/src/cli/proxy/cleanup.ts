import { Command } from 'commander';
import { proxySettings } from '../../node-proxy/settings.ts';
import { addQueryOptions } from '../config/options.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { openDriver, readProxyConfig } from './proxy-session.ts';

/** `causeway proxy cleanup`: removes all rules of the proxy. */
export function cleanUpProxyCommand(): Command {
  const command = new Command('cleanup').description('remove all rules of the proxy');
  return addQueryOptions(command, proxySettings, ['--nftables-driver', '--nftables-table']).action(
    async () => {
      const { settings } = await readProxyConfig(command);
      const driver = await openDriver(settings);
      const { table } = settings.nftables;
      try {
        await driver.apply({ table, operations: [{ op: 'remove-table' }] }, stopSignal());
      } finally {
        await driver.close();
      }
      process.stdout.write(`the table ${table} was removed\n`);
    },
  );
}
