import type { EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import type { ClusterIdentity } from '../../services/cluster-identity.ts';
import { OrphanRegister } from '../../services/orphan-register.ts';
import type { ControllerSettings } from './settings.ts';
import type { ReadinessScope } from '@causeway/base/observability/readiness';
import { clusterIdentityOf } from '../cluster/cluster-id.ts';
import type { ProviderSurroundings } from './providers.ts';

/** How a provider marks its objects in the cloud, and where it reports orphans. */
export interface Ownership {
  readonly cluster: ClusterIdentity;
  readonly orphans: OrphanRegister;
}

/** Reads the identity of the cluster when a provider needs it: only providers with cloud objects do. */
export type OwnershipOf = (provider: string, signal: AbortSignal) => Promise<Ownership>;

export function ownership(
  settings: ControllerSettings,
  surroundings: ProviderSurroundings,
  readiness: ReadinessScope,
  recorder: EventRecorder,
): OwnershipOf {
  return async (provider, signal) => {
    const cluster = await clusterIdentityOf(settings, surroundings, readiness, signal);
    const orphans = new OrphanRegister({
      ...surroundings,
      namespace: settings.leaderElection.namespace,
      provider,
      clusterId: cluster.id,
      record: (about, content) => recorder.record(configMaps, about, content),
    });
    return { cluster, orphans };
  };
}
