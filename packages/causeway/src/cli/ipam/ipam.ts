import { Command } from 'commander';
import { credentialsCommand, historyCommand, whoHasCommand } from './audit.ts';
import { clustersCommand, freeCommand, reservationsCommand, reserveCommand } from './cluster.ts';
import { ledgerCommands } from './ledger.ts';
import { backupCommand, importCommand, poolsCommand, sitesCommand } from './operator.ts';
import { serveCommand } from './serve.ts';

/** `causeway ipam`: one pool of addresses for many clusters. */
export function ipamCommand(): Command {
  const ipam = new Command('ipam').description('share pools of addresses between clusters');
  const commands = [
    serveCommand(),
    ...ledgerCommands(),
    sitesCommand(),
    poolsCommand(),
    clustersCommand(),
    reserveCommand(),
    freeCommand(),
    reservationsCommand(),
    whoHasCommand(),
    historyCommand(),
    credentialsCommand(),
    backupCommand(),
    importCommand(),
  ];
  for (const command of commands) ipam.addCommand(command);
  return ipam;
}
