import { Command } from 'commander';
import { drainPoolCommand } from './drain.ts';
import { listPoolsCommand } from './list.ts';
import { removePoolCommand } from './remove.ts';
import { setPoolCommand } from './set.ts';
import { undrainPoolCommand } from './undrain.ts';

/** `causeway ipam pools`: address pools of a site. */
export function poolsCommand(): Command {
  const pools = new Command('pools').description('address pools of a site');
  const commands = [
    setPoolCommand(),
    listPoolsCommand(),
    drainPoolCommand(),
    undrainPoolCommand(),
    removePoolCommand(),
  ];
  for (const command of commands) pools.addCommand(command);
  return pools;
}
