import type { Command } from 'commander';
import { drainCommand } from './drain-command.ts';

/** `causeway ipam pools undrain`: resumes the assignment of a pool's addresses. */
export function undrainPoolCommand(): Command {
  return drainCommand('undrain', false, 'assign addresses again');
}
