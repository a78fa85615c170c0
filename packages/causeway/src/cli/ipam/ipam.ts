import { Command } from 'commander';
import { backupCommand } from './backup.ts';
import { clustersCommand } from './clusters/clusters.ts';
import { credentialsCommand } from './credentials/credentials.ts';
import { freeCommand } from './free.ts';
import { historyCommand } from './history.ts';
import { importCommand } from './import-cloudlet.ts';
import { initCommand } from './init.ts';
import { moveCommand } from './move.ts';
import { poolsCommand } from './pools/pools.ts';
import { recoverCommand } from './recover.ts';
import { reservationsCommand } from './reservations.ts';
import { reserveCommand } from './reserve.ts';
import { restoreCommand } from './restore.ts';
import { serveCommand } from './serve.ts';
import { sitesCommand } from './sites/sites.ts';
import { whoHasCommand } from './who-has.ts';

/** `causeway ipam`: one pool of addresses for many clusters. */
export function ipamCommand(): Command {
  const ipam = new Command('ipam').description('share pools of addresses between clusters');
  const commands = [
    serveCommand(),
    initCommand(),
    restoreCommand(),
    recoverCommand(),
    moveCommand(),
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
