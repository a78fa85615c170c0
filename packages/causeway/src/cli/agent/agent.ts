import { Command } from 'commander';
import type { HttpAgentClient } from '../../gateway/protocol/agent-client.ts';
import { parseSecrets } from '../../gateway/protocol/secrets.ts';
import type { AgentStatus } from '../../gateway/protocol/agent-status.ts';
import type { OverrideName } from '../../gateway/protocol/override.ts';
import { agentSettings, socketFile } from '../../gateway/agent/settings.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { systemClock } from '@causeway/base/time/clock';
import { cleanUpAgentCommand } from './cleanup.ts';
import { runAgentCommand } from './run.ts';
import { addQueryOptions, readConfig } from '../config/options.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';
import { readTextFile } from '../terminal/read-text-file.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

/** `causeway agent`: the gateway's agent, and an operator's overrides. */
export function agentCommand(): Command {
  const agent = new Command('agent').description('program nftables and keepalived on a gateway');
  agent.addCommand(runAgentCommand(), { isDefault: true });
  agent.addCommand(statusCommand());
  agent.addCommand(
    overrideCommand('drain', 'drained', true, 'give up all addresses, for maintenance'),
  );
  agent.addCommand(overrideCommand('undrain', 'drained', false, 'take addresses again'));
  agent.addCommand(overrideCommand('freeze', 'frozen', true, 'reject updates until thawed'));
  agent.addCommand(overrideCommand('thaw', 'frozen', false, 'accept updates again'));
  agent.addCommand(
    overrideCommand(
      'allow-removal',
      'removal',
      true,
      'apply the removals that are withheld, or all of those in the next update',
    ),
  );
  agent.addCommand(
    overrideCommand(
      'refuse-removal',
      'removal',
      false,
      'revoke that, if no update has arrived yet',
    ),
  );
  agent.addCommand(undoCommand());
  agent.addCommand(cleanUpAgentCommand());
  return agent;
}

const reasonOption = ['-r, --reason <text>', 'reason, for other operators'] as const;

/** Flags to reach the agent on this machine. */
const socketFlags = ['--name', '--runtime-directory', '--secrets-file'] as const;

function statusCommand(): Command {
  const command = new Command('status').description('state of this gateway and its frontends');
  addOutputOption(addQueryOptions(command, agentSettings, socketFlags));
  return command.action(async (options: { output: OutputFormat }) => {
    printStatus(
      options.output,
      await withAgent(command, (client, signal) => client.status(signal)),
    );
  });
}

function overrideCommand(
  name: string,
  override: OverrideName,
  on: boolean,
  description: string,
): Command {
  const command = new Command(name).description(description).option(...reasonOption);
  addOutputOption(addQueryOptions(command, agentSettings, socketFlags));
  return command.action(async (options: { output: OutputFormat; reason?: string }) => {
    const status = await withAgent(command, (client, signal) =>
      client.pull(override, on, options.reason, signal),
    );
    printStatus(options.output, status);
  });
}

function undoCommand(): Command {
  const command = new Command('undo')
    .description('restore the state before the last change, and freeze')
    .requiredOption(...reasonOption);
  addOutputOption(addQueryOptions(command, agentSettings, socketFlags));
  return command.action(async (options: { output: OutputFormat; reason: string }) => {
    const status = await withAgent(command, async (client, signal) => {
      await client.undo(options.reason, signal);
      return client.status(signal);
    });
    printStatus(options.output, status);
  });
}

/** Calls the agent on this machine, with its own settings. */
async function withAgent<T>(
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

function printStatus(format: OutputFormat, status: AgentStatus): void {
  printObjects(
    format,
    [status],
    [
      { title: 'agent', value: ({ agent }) => agent },
      { title: 'generation', value: ({ generation }) => String(generation) },
      { title: 'frontends', value: ({ frontends }) => String(frontends) },
      { title: 'older', value: ({ older }) => String(older.length) },
      { title: 'withheld', value: ({ withheld }) => String(withheld?.length ?? '-') },
      { title: 'vrrp', value: ({ vrrp }) => vrrp.state },
      { title: 'overrides', value: describeOverrides },
      { title: 'alarms', value: ({ alarms }) => alarms.join('; ') || '-' },
    ],
  );
}

function describeOverrides({ frozen, drained, removal = null }: AgentStatus): string {
  const pulled = [
    frozen === null ? undefined : `frozen (${frozen.reason})`,
    drained === null ? undefined : `drained (${drained.reason})`,
    removal === null ? undefined : `removal allowed (${removal.reason})`,
  ].filter((text) => text !== undefined);
  return pulled.join(', ') || '-';
}
