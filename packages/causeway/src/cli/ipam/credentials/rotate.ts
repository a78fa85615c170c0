import { Command } from 'commander';
import { parseDuration } from '@causeway/base/time/duration';
import { handOver, speaksWithServer, withServer } from '../connection.ts';
import type { Flags } from '../flag-values.ts';

/** `causeway ipam credentials rotate`: replaces the token of the caller. */
export function rotateCredentialCommand(): Command {
  const command = new Command('rotate')
    .description('replace the token of this command; the old one stays valid for a while')
    .argument('<site>')
    .argument('<cluster>')
    .option('--overlap <time>', 'how long the old token stays valid', '10m')
    .option('--credential-file <file>', 'write the token to this file instead of printing it');
  return speaksWithServer(command).action(async (site: string, cluster: string, options: Flags) => {
    const body = { overlapMs: parseDuration(options['overlap'] ?? '10m') };
    const request = { params: { site, cluster }, body };
    const { token } = await withServer(command, (call) => call('rotateCredential', request));
    if (token !== undefined) await handOver(token, options['credentialFile']);
  });
}
