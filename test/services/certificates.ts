import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { runOrThrow } from './run-program.ts';

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

const ecKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export async function makeAuthority(directory: string): Promise<CertificateFiles> {
  const files = {
    certificate: path.join(directory, 'ca.crt'),
    key: path.join(directory, 'ca.key'),
  };
  await runOrThrow('openssl', [
    ...['req', '-x509', ...ecKey, '-keyout', files.key, '-out', files.certificate],
    ...['-days', '2', '-subj', '/CN=causeway-test-ca'],
  ]);
  return files;
}

/** A certificate for servers and clients alike, signed by the authority. */
export async function issueCertificate(
  directory: string,
  authority: CertificateFiles,
  name: string,
  subject: string,
  alternativeNames = '',
): Promise<CertificateFiles> {
  const file = (suffix: string) => path.join(directory, `${name}.${suffix}`);
  await runOrThrow('openssl', [
    ...['req', ...ecKey, '-keyout', file('key'), '-out', file('csr'), '-subj', subject],
  ]);
  const san = alternativeNames === '' ? '' : `subjectAltName=${alternativeNames}\n`;
  await fs.writeFile(
    file('ext'),
    `extendedKeyUsage=serverAuth,clientAuth\nkeyUsage=digitalSignature\n${san}`,
  );
  await runOrThrow('openssl', [
    ...['x509', '-req', '-in', file('csr'), '-CA', authority.certificate, '-CAkey', authority.key],
    // Not counted in a file beside the authority, because several are issued at the same time.
    ...['-set_serial', `0x${randomBytes(15).toString('hex')}`],
    ...['-days', '2', '-extfile', file('ext'), '-out', file('crt')],
  ]);
  return { certificate: file('crt'), key: file('key') };
}
