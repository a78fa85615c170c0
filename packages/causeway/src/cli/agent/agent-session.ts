import type { Command } from 'commander';
import type { HttpAgentClient } from '../../gateway/protocol/agent-client.ts';
import { parseSecrets } from '../../gateway/protocol/secrets.ts';
import { agentSettings, socketFile } from '../../gateway/agent/settings.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { systemClock } from '@causeway/base/time/clock';
import { readConfig } from '../config/options.ts';
import { readTextFile } from '../terminal/read-text-file.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

export const reasonOption = ['-r, --reason <text>', 'reason, for other operators'] as const;

/** Flags to reach the agent on this machine. */
export const socketFlags = ['--name', '--runtime-directory', '--secrets-file'] as const;

/** Calls the agent on this machine, with its own settings. */
export async function withAgent<T>(
  command: Command,
  work: (client: HttpAgentClient, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const settings = await readConfig(command, agentSettings);
  if (settings.secretsFile === undefined) {
    throw new CausewayError('invalid', 'the agent has no shared secret for its API', {
      hint: 'Set secretsFile.',
    });
  }
  const [secret] = parseSecrets(await readTextFile(settings.secretsFile));
  // Loaded on demand, so that the long-running agent does not keep an HTTP client in memory.
  const { HttpAgentClient: Client } = await import('../../gateway/protocol/agent-client.ts');
  const client = new Client({
    url: 'http://localhost',
    socketPath: socketFile(settings),
    name: settings.name,
    secret: secret ?? new Uint8Array(),
    clock: systemClock,
    limitMs: 30_000,
  });
  try {
    return await work(client, stopSignal());
  } finally {
    await client.close();
  }
}
