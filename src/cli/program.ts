import { Command } from 'commander';
import { agentCommand } from './agent.ts';
import { completionCommand } from './completion.ts';
import { configCommand } from './config-validate.ts';
import { controllerCommand } from './controller.ts';
import { discoverCommand } from './discover.ts';
import { doctorCommand } from './doctor.ts';
import { explainCommand } from './explain.ts';
import { gatewaysCommand } from './gateways.ts';
import { idleCommand } from './idle.ts';
import { ipamCommand } from './ipam.ts';
import { playgroundCommand } from './playground.ts';
import { proxyCommand } from './proxy.ts';
import { poolCommand } from './pool.ts';
import { poolsOverviewCommand } from './pools.ts';
import { servicesCommand } from './services.ts';
import { statusCommand } from './status.ts';
import { traceCommand } from './trace.ts';
import { causewayVersion } from './version.ts';
import { wakeCommand } from './wake.ts';

/** The whole command line. One file for each command; this one only lists them. */
export function buildProgram(): Command {
  const program = new Command('causeway')
    .description('Traffic in and out of Kubernetes on OpenStack and on bare metal.')
    .version(causewayVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help for a command')
    .showHelpAfterError('(causeway COMMAND --help shows what it takes)')
    .showSuggestionAfterError()
    .enablePositionalOptions();
  for (const command of [
    playgroundCommand(),
    controllerCommand(),
    agentCommand(),
    gatewaysCommand(),
    proxyCommand(),
    ipamCommand(),
    discoverCommand(),
    idleCommand(),
    wakeCommand(),
    poolCommand(),
    statusCommand(),
    servicesCommand(),
    poolsOverviewCommand(),
    explainCommand(),
    traceCommand(),
    doctorCommand(),
    configCommand(),
    completionCommand(),
  ]) {
    program.addCommand(command);
  }
  return program;
}
