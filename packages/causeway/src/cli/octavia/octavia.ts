import { Command } from 'commander';
import { handBackToKuryr } from '../../octavia/hand-back.ts';
import { handBackCommand } from './hand-back.ts';

/** `causeway octavia`: manual operations on Services of Octavia. */
export function octaviaCommand(): Command {
  return new Command('octavia')
    .description('operations on Services of Octavia: return them to Kuryr')
    .addCommand(handBackCommand('Kuryr', handBackToKuryr));
}
