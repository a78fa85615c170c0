import { Command } from 'commander';
import { compileUncached, keepBurstsSmall } from '@causeway/base/process/thrifty-heap';
import { causewayVersion } from './terminal/version.ts';

/**
 * One file per command; this one only lists them, in the order of the help. Each is loaded on demand, so that
 * long-running commands do not keep the others in memory.
 */
const commands = new Map<string, () => Promise<Command>>([
  ['playground', async () => (await import('./playground/playground.ts')).playgroundCommand()],
  ['controller', async () => (await import('./controller/controller.ts')).controllerCommand()],
  ['agent', async () => (await import('./agent/agent.ts')).agentCommand()],
  ['gateways', async () => (await import('./gateways/gateways.ts')).gatewaysCommand()],
  ['octavia', async () => (await import('./octavia/octavia.ts')).octaviaCommand()],
  ['orphans', async () => (await import('./orphans/orphans.ts')).orphansCommand()],
  ['proxy', async () => (await import('./proxy/proxy.ts')).proxyCommand()],
  ['ipam', async () => (await import('./ipam/ipam.ts')).ipamCommand()],
  ['discover', async () => (await import('./discovery/discover.ts')).discoverCommand()],
  ['idle', async () => (await import('./idle/idle.ts')).idleCommand()],
  ['wake', async () => (await import('./idle/wake.ts')).wakeCommand()],
  ['pool', async () => (await import('./pool/pool.ts')).poolCommand()],
  ['status', async () => (await import('./console/status.ts')).statusCommand()],
  ['services', async () => (await import('./console/services.ts')).servicesCommand()],
  ['pools', async () => (await import('./pool/pools.ts')).poolsOverviewCommand()],
  ['explain', async () => (await import('./console/explain.ts')).explainCommand()],
  ['trace', async () => (await import('./console/trace.ts')).traceCommand()],
  ['doctor', async () => (await import('./console/doctor.ts')).doctorCommand()],
  ['config', async () => (await import('./config/config.ts')).configCommand()],
  ['completion', async () => (await import('./completion/completion.ts')).completionCommand()],
]);

/** For other programs; not in the help. */
const hidden = new Map<string, () => Promise<Command>>([
  [
    'kubectl-completion',
    async () => (await import('./completion/kubectl-completion.ts')).kubectlCompletionCommand(),
  ],
]);

/**
 * These run for months and are mostly idle. Loading all commands would permanently enlarge the space for new
 * objects.
 */
const longRunning: readonly string[] = ['controller', 'agent', 'proxy'];

/** These need all other commands. */
const overAll: readonly string[] = ['completion', ...hidden.keys()];

/** Builds the whole command line, or the part that these words need. */
export async function buildProgram(words: readonly string[] = []): Promise<Command> {
  const program = new Command('causeway')
    .description('Traffic in and out of Kubernetes on OpenStack and on bare metal.')
    .version(causewayVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help for a command')
    .showHelpAfterError('(see causeway COMMAND --help)')
    .showSuggestionAfterError()
    .enablePositionalOptions();
  const [name = ''] = words;
  if (longRunning.includes(name)) keepBurstsSmall();
  if (name === 'agent') compileUncached();
  const load = overAll.includes(name) ? undefined : commands.get(name);
  const loaded = load === undefined ? [...commands.values()] : [load];
  for (const each of loaded) program.addCommand(await each());
  const unseen = await hidden.get(name)?.();
  if (unseen !== undefined) program.addCommand(unseen, { hidden: true });
  for (const command of program.commands) nameHelp(command, `causeway ${command.name()}`);
  return program;
}

/** Names the help of this command in usage errors. */
function nameHelp(command: Command, words: string): void {
  command.showHelpAfterError(`(see ${words} --help)`);
  for (const each of command.commands) nameHelp(each, `${words} ${each.name()}`);
}
