import type { CredentialFiles } from './api/credentials.ts';
import type { AgentSettings } from './settings.ts';

/** Where the settings say that secrets and certificates are. */
export function credentialFiles(settings: AgentSettings): CredentialFiles {
  const { certificateFile, keyFile, clientAuthorityFile } = settings.tls;
  return {
    secrets: settings.secretsFile,
    v1Secrets: settings.v1.secretsFile,
    tls:
      certificateFile === undefined || keyFile === undefined
        ? undefined
        : { certificate: certificateFile, key: keyFile, clientAuthority: clientAuthorityFile },
  };
}
