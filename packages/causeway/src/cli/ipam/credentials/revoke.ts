import { Command } from 'commander';
import { speaksWithServer, withServer } from '../connection.ts';
import { reasonOption } from '../shared-options.ts';

/** `causeway ipam credentials revoke`: revokes a credential on every server. */
export function revokeCredentialCommand(): Command {
  const command = new Command('revoke')
    .description('revoke a credential at once, on every server')
    .argument('<id>')
    .option(...reasonOption);
  return speaksWithServer(command).action(async (id: string, { reason }: { reason?: string }) => {
    const request = { params: { id }, query: { reason } };
    const { revoked } = await withServer(command, (call) => call('revokeCredential', request));
    process.stdout.write(revoked ? 'revoked\n' : 'there is no such credential\n');
  });
}
