import { Command } from 'commander';
import { handBackToKuryr } from '../../octavia/hand-back.ts';
import { handBackCommand } from './hand-back.ts';

/** `causeway octavia`: what is done to Services on Octavia by hand. */
export function octaviaCommand(): Command {
  return new Command('octavia')
    .description('Services on Octavia: the way back to Kuryr')
    .addCommand(handBackCommand('Kuryr', handBackToKuryr));
}
