import type { Command } from 'commander';
import { drainCommand } from './drain-command.ts';

/** `causeway ipam pools drain`: stops the assignment of a pool's addresses. */
export function drainPoolCommand(): Command {
  return drainCommand('drain', true, 'assign no more addresses; existing reservations stay');
}
