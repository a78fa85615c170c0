import net from 'node:net';
import { Command } from 'commander';
import { drainLeftRunning } from '../../gateway/agent/announce/kinds.ts';
import { removeTables } from '../../gateway/agent/linux-kernel.ts';
import { agentSettings, socketFile, type AgentSettings } from '../../gateway/agent/settings.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { systemClock } from '@causeway/base/time/clock';
import { addQueryOptions, readConfig } from '../config/options.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

/** `causeway agent cleanup`: for a machine that is no longer a gateway. */
export function cleanUpAgentCommand(): Command {
  const command = new Command('cleanup').description(
    'remove the remains of a stopped agent: its announcer with all addresses, and all rules',
  );
  const flags = [
    '--name',
    '--runtime-directory',
    '--addresses-start',
    '--nftables-driver',
    '--nftables-table',
  ];
  return addQueryOptions(command, agentSettings, flags).action(async () => {
    await cleanUp(await readConfig(command, agentSettings), stopSignal());
    process.stdout.write('its addresses and rules are gone\n');
  });
}

async function cleanUp(settings: AgentSettings, signal: AbortSignal): Promise<void> {
  if (await isListening(socketFile(settings))) {
    throw new CausewayError('conflict', 'the agent is running, and would write its rules again', {
      hint: 'Stop it, and the announcer if a unit starts it, then try again.',
    });
  }
  // The addresses are removed before the rules that serve them.
  const { nftables } = settings;
  await drainLeftRunning(settings, systemClock, signal);
  if (nftables.driver !== 'memory') await removeTables(nftables.driver, nftables.table, signal);
}

function isListening(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = net.connect(socket);
    connection.once('error', () => resolve(false));
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
  });
}
