import fs from 'node:fs/promises';
import type { SecureContextOptions } from 'node:tls';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parseSecrets } from '../../protocol/secrets.ts';

export interface CredentialFiles {
  /** Shared secrets for `/v2`, base64, one per line. */
  readonly secrets: string | undefined;
  /** Shared secrets for `/v1`. Without this file, that API is off. */
  readonly v1Secrets: string | undefined;
  readonly tls: TlsFiles | undefined;
}

export interface TlsFiles {
  readonly certificate: string;
  readonly key: string;
  /** Clients must present a certificate that this authority has signed. */
  readonly clientAuthority: string | undefined;
}

export interface Credentials {
  readonly secrets: readonly Uint8Array[];
  readonly v1Secrets: readonly Uint8Array[];
  readonly tls: SecureContextOptions | undefined;
}

/** Reads all files, so that a rotation applies completely or not at all. */
export async function loadCredentials(files: CredentialFiles): Promise<Credentials> {
  const [secrets, v1Secrets, tls] = await Promise.all([
    readSecrets(files.secrets),
    readSecrets(files.v1Secrets),
    files.tls === undefined ? undefined : readTls(files.tls),
  ]);
  return { secrets, v1Secrets, tls };
}

async function readSecrets(file: string | undefined): Promise<Uint8Array[]> {
  return file === undefined ? [] : parseSecrets(await read(file));
}

async function readTls(files: TlsFiles): Promise<SecureContextOptions> {
  const [cert, key, ca] = await Promise.all([
    read(files.certificate),
    read(files.key),
    files.clientAuthority === undefined ? undefined : read(files.clientAuthority),
  ]);
  return { cert, key, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) };
}

async function read(file: string): Promise<string> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (cause) {
    throw new CausewayError('not-found', `${file} can't be read`, { cause });
  }
}
