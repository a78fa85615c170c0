import type { Command } from 'commander';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { systemClock } from '@causeway/base/time/clock';
import { stopSignal } from '../terminal/stop-signal.ts';

export interface ClusterOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface ClusterSession {
  readonly client: KubeClient;
  /** The named namespace, else the context's. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Adds kubectl's options to a command that connects to a cluster. */
export function addClusterOptions(
  command: Command,
  namespace = "namespace; else the context's",
): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig; else KUBECONFIG, the pod, or ~/.kube/config')
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <name>', namespace);
}

/** Adds the option for the namespace in which the controller keeps its lease and its reports. */
export function addSystemNamespaceOption(command: Command): Command {
  return command.option(
    '--system-namespace <name>',
    "namespace of the controller's lease; by default, the command finds it",
  );
}

/** Runs the command's work with a client and closes it afterwards. */
export async function withCluster<T>(
  options: ClusterOptions,
  work: (session: ClusterSession) => Promise<T>,
): Promise<T> {
  const clock = systemClock;
  const connection = await findConnection({ ...options, env: process.env, clock });
  const client = new KubeClient({ transport: new HttpTransport(connection, clock), clock });
  const namespace = options.namespace ?? connection.namespace;
  try {
    return await work({ client, namespace, signal: stopSignal() });
  } finally {
    await client.close();
  }
}
