import fs from 'node:fs/promises';
import path from 'node:path';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { familyOf, tryParseAddress } from '@causeway/base/address/address';
import type { Clock } from '@causeway/base/time/clock';
import type { Connection } from '../client/connection.ts';
import { MaterialCredentialSource } from './credentials.ts';

const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The connection of a pod's service account, or undefined outside of a pod. The token's file is read at
 * intervals, because the kubelet rotates it.
 */
export async function inClusterConnection(
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  directory = serviceAccountDirectory,
): Promise<Connection | undefined> {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '';
  if (host === '' || port === '') return undefined;
  if (!/^[0-9]{1,5}$/.test(port)) {
    throw new CausewayError(
      'invalid',
      `KUBERNETES_SERVICE_PORT is ${JSON.stringify(port)}, not a port`,
    );
  }
  const address = tryParseAddress(host);
  const authority = address !== undefined && familyOf(address) === 6 ? `[${host}]` : host;
  return {
    server: `https://${authority}:${port}`,
    certificateAuthority: { file: path.join(directory, 'ca.crt') },
    insecureSkipTlsVerify: false,
    credentials: new MaterialCredentialSource(
      { token: { file: path.join(directory, 'token') } },
      clock,
    ),
    namespace: await podNamespace(directory),
    origin: 'the service account of this pod',
  };
}

async function podNamespace(directory: string): Promise<string> {
  const text = await fs.readFile(path.join(directory, 'namespace'), 'utf8').catch(() => '');
  return text.trim() || 'default';
}
