import { Command } from 'commander';
import { validateCommand } from './validate.ts';

/** `causeway config`: configuration files. */
export function configCommand(): Command {
  return new Command('config').description('configuration files').addCommand(validateCommand());
}
