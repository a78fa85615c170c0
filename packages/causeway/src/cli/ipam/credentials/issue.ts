import { Command } from 'commander';
import { parseDuration } from '@causeway/base/time/duration';
import { handOver, speaksWithServer, withServer } from '../connection.ts';
import type { Flags } from '../flag-values.ts';
import { reasonOption } from '../shared-options.ts';

/** `causeway ipam credentials issue`: creates a credential. */
export function issueCredentialCommand(): Command {
  const command = new Command('issue')
    .description('create a credential for a cluster, or for an operator if none is named')
    .argument('[site]')
    .argument('[cluster]')
    .option('--note <text>', 'name of its owner')
    .option('--lifetime <time>', 'expires after')
    .option('--certificate <sha256>', 'register a client certificate by its SHA-256 instead')
    .option('--credential-file <file>', 'write the token to this file instead of printing it')
    .option(...reasonOption);
  return speaksWithServer(command).action(
    async (site: string | undefined, cluster: string | undefined, options: Flags) => {
      const lifetime = options['lifetime'];
      const body = {
        note: options['note'],
        lifetimeMs: lifetime === undefined ? undefined : parseDuration(lifetime),
        certificate: options['certificate']?.replaceAll(':', '').toLowerCase(),
        reason: options['reason'],
      };
      const issued = await withServer(command, (call) =>
        site === undefined || cluster === undefined
          ? call('issueOperatorCredential', { params: {}, body })
          : call('issueClusterCredential', { params: { site, cluster }, body }),
      );
      if (issued.token !== undefined) await handOver(issued.token, options['credentialFile']);
    },
  );
}
