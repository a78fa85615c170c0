import type { CredentialFiles } from './api/credentials.ts';
import type { AgentSettings } from './settings.ts';

/** The files of secrets and certificates in the settings. */
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
