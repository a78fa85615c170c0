import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { namespaces } from '@causeway/kubernetes/objects/resources';
import { readClusterIdentity, type ClusterIdentity } from '../../services/cluster-identity.ts';
import type { Log } from '@causeway/base/observability/log';
import type { ControllerSettings } from '../controller/settings.ts';
import type { ReadinessScope } from '@causeway/base/observability/readiness';
import { sleep } from '@causeway/base/time/clock';
import type { ProviderSurroundings } from '../controller/providers.ts';

const retryMs = 5_000;

/**
 * The identity of this cluster. The controller does nothing in the cloud without it. So it waits until the
 * namespace kube-system can be read, and reports the reason in the log and in its readiness.
 */
export async function clusterIdentityOf(
  { clusterId }: Pick<ControllerSettings, 'clusterId'>,
  { client, clock, log }: Pick<ProviderSurroundings, 'client' | 'clock' | 'log'>,
  readiness: Pick<ReadinessScope, 'add'>,
  signal: AbortSignal,
): Promise<ClusterIdentity> {
  let problem: string | undefined = 'the UID of the namespace kube-system has not been read yet';
  readiness.add('cluster identity', () => problem);
  for (;;) {
    try {
      const identity = await readClusterIdentity(clusterId, client, signal);
      problem = undefined;
      return identity;
    } catch (error) {
      if (signal.aborted) throw error;
      const known = CausewayError.from(error);
      problem = `the UID of the namespace kube-system can't be read: ${known.message}`;
      const hint =
        'The controller needs the permission to get the namespace kube-system. It does nothing until then.';
      log.error({ error: known, hint }, problem);
      await sleep(clock, retryMs, signal);
    }
  }
}

/**
 * The UID of the cluster, independent of its name in the settings. Gateways store it, so that another cluster
 * can't confirm removals. Undefined if it can't be read now: a controller starts without it.
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
