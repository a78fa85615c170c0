import type { Command } from 'commander';
import type { ConfigMap } from '@causeway/kubernetes/objects/core-objects';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import { orphanRegisterName, type RegisteredReport } from '../../services/orphan-register.ts';
import type { Orphan } from '../../services/orphan.ts';
import type { ClusterOptions, ClusterSession } from '../cluster/cluster-connection.ts';
import { printObjects, type OutputFormat } from '../terminal/output.ts';

export interface OrphanOptions extends ClusterOptions {
  readonly systemNamespace: string;
}

/** An orphan in the commands' output. */
export interface ListedOrphan extends Orphan {
  readonly provider: string;
  readonly state: 'held' | 'confirmed';
}

export function addOrphanOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig; else KUBECONFIG, the pod, or ~/.kube/config')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--system-namespace <name>', "namespace of the controller's lease", 'kube-system');
}

export function listOrphans(reports: readonly RegisteredReport[]): ListedOrphan[] {
  return reports.flatMap(({ provider, orphans, confirmed }) =>
    orphans.map((orphan) => ({
      ...orphan,
      provider,
      state: confirmed.includes(orphan.id) ? ('confirmed' as const) : ('held' as const),
    })),
  );
}

export async function readRegister(
  { client, signal }: ClusterSession,
  namespace: string,
): Promise<ConfigMap> {
  const name = { namespace, name: orphanRegisterName };
  return (await client.find(configMaps, name, { signal })) ?? {};
}

export function printOrphans(format: OutputFormat, orphans: readonly ListedOrphan[]): void {
  printObjects(format, orphans, [
    { title: 'provider', value: ({ provider }) => provider },
    { title: 'kind', value: ({ kind }) => kind },
    { title: 'id', value: ({ id }) => id },
    { title: 'address', value: ({ address = '' }) => address },
    { title: 'service', value: ({ service = '' }) => service },
    { title: 'cluster', value: ({ mark }) => (mark === 'own' ? 'this one' : 'not certain') },
    { title: 'state', value: ({ state }) => state },
  ]);
}
