import os from 'node:os';
import path from 'node:path';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import type { CredentialSource, Material } from '../credentials/credentials.ts';
import { inClusterConnection } from '../credentials/in-cluster.ts';
import { loadKubeconfig, resolveKubeconfig } from '../credentials/kubeconfig.ts';

/** Everything needed to call one API server with one identity. */
export interface Connection {
  /** Such as `https://192.0.2.1:6443`, without a trailing slash; may have a path. */
  readonly server: string;
  readonly certificateAuthority?: Material | undefined;
  readonly insecureSkipTlsVerify: boolean;
  readonly tlsServerName?: string | undefined;
  readonly proxyUrl?: string | undefined;
  readonly credentials: CredentialSource;
  /** The default namespace of commands. */
  readonly namespace: string;
  /** Source of this connection, for messages. */
  readonly origin: string;
}

export interface ConnectionChoice {
  /** From `--kubeconfig`. */
  readonly kubeconfig?: string | undefined;
  /** From `--context`. */
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/**
 * Finds the API server like kubectl: the given file, else the files in KUBECONFIG, else the service account
 * of the pod, else `~/.kube/config`.
 */
export async function findConnection(choice: ConnectionChoice): Promise<Connection> {
  const { env, clock, context } = choice;
  const fromFiles = async (files: readonly string[]) =>
    resolveKubeconfig(await loadKubeconfig(files), { context, env, clock });

  if (choice.kubeconfig !== undefined) return fromFiles([choice.kubeconfig]);
  const named = (env['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '');
  if (named.length > 0) return fromFiles(named);
  const inCluster = context === undefined ? await inClusterConnection(env, clock) : undefined;
  if (inCluster !== undefined) return inCluster;

  const home = path.join(env['HOME'] ?? os.homedir(), '.kube', 'config');
  try {
    return await fromFiles([home]);
  } catch (error) {
    const known = CausewayError.from(error);
    if (known.code !== 'not-found') throw known;
    throw new CausewayError('not-found', 'no Kubernetes cluster is configured', {
      cause: error,
      hint: `Name a kubeconfig with --kubeconfig or KUBECONFIG, put one at ${home}, or run inside a pod.`,
    });
  }
}
