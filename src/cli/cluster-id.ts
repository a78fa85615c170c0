import { CausewayError } from '../domain/error.ts';
import type { KubeClient } from '../kube/client.ts';
import { namespaces } from '../kube/resources.ts';
import type { Log } from '../runtime/log.ts';
import type { ControllerSettings } from '../loadbalancer/settings.ts';

/**
 * What tells this cluster from the others in its cloud project. Where no name is set it is the UID of the
 * namespace kube-system, which no two clusters share and which lasts as long as the cluster: a default
 * that two clusters have in common would let them delete each other's ports.
 */
export async function clusterIdOf(
  { clusterId }: Pick<ControllerSettings, 'clusterId'>,
  client: KubeClient,
  signal: AbortSignal,
): Promise<string> {
  if (clusterId !== undefined) return clusterId;
  const { metadata } = await client.get(namespaces, { name: 'kube-system' }, { signal });
  if (metadata?.uid !== undefined) return metadata.uid;
  throw new CausewayError('invalid', 'the namespace kube-system has no UID', {
    hint: 'Set clusterId to a name that no other cluster of the cloud project has.',
  });
}

/**
 * The UID of the cluster, whatever name it has in the settings. Gateways remember it, so that another
 * cluster can't confirm removals. Undefined where it can't be read now: a controller starts without it.
 */
export async function clusterUidOf(
  { client, log }: { readonly client: KubeClient; readonly log: Log },
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const system = await client.find(namespaces, { name: 'kube-system' }, { signal });
    return system?.metadata?.uid;
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ error: CausewayError.from(error) }, "the cluster's UID can't be read");
    return undefined;
  }
}
