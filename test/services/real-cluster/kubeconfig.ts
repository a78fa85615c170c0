import fs from 'node:fs/promises';
import { stringify } from 'yaml';
import { issueCertificate, type CertificateFiles } from '../certificates.ts';
import { apiServer, type ClusterFiles } from './layout.ts';

/** A certificate for a client of the API server, and a kubeconfig that uses it. */
export async function issueKubeconfig(
  files: ClusterFiles,
  authority: CertificateFiles,
  name: string,
  subject: string,
  alternativeNames = '',
): Promise<CertificateFiles> {
  const certificate = await issueCertificate(
    ...([files.certificates, authority, name, subject, alternativeNames] as const),
  );
  await writeKubeconfig(files.kubeconfig(name), apiServer, authority, certificate);
  return certificate;
}

export async function writeKubeconfig(
  file: string,
  server: string,
  authority: CertificateFiles,
  client: CertificateFiles,
): Promise<void> {
  const embedded = async (path: string) => (await fs.readFile(path)).toString('base64');
  const cluster = { server, 'certificate-authority-data': await embedded(authority.certificate) };
  const user = {
    'client-certificate-data': await embedded(client.certificate),
    'client-key-data': await embedded(client.key),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'causeway', cluster }],
    users: [{ name: 'user', user }],
    contexts: [{ name: 'causeway', context: { cluster: 'causeway', user: 'user' } }],
    'current-context': 'causeway',
  };
  await fs.writeFile(file, stringify(config), { mode: 0o600 });
}
