import { Command } from 'commander';
import { issueCredentialCommand } from './issue.ts';
import { listCredentialsCommand } from './list.ts';
import { revokeCredentialCommand } from './revoke.ts';
import { rotateCredentialCommand } from './rotate.ts';

/** `causeway ipam credentials`: credentials of the allocator's API. */
export function credentialsCommand(): Command {
  const credentials = new Command('credentials').description('credentials of the API');
  const commands = [
    listCredentialsCommand(),
    issueCredentialCommand(),
    rotateCredentialCommand(),
    revokeCredentialCommand(),
  ];
  for (const command of commands) credentials.addCommand(command);
  return credentials;
}
