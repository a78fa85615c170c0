import type { EventRecorder } from '../kube/event-recorder.ts';
import { configMaps } from '../kube/resources.ts';
import type { ClusterIdentity } from '../loadbalancer/cluster-identity.ts';
import { OrphanRegister } from '../loadbalancer/orphan-register.ts';
import type { ControllerSettings } from '../loadbalancer/settings.ts';
import type { Readiness } from '../observe/readiness.ts';
import { clusterIdentityOf } from './cluster-id.ts';
import type { ProviderSurroundings } from './controller-providers.ts';

/** How a provider marks its objects in the cloud, and where it shows those without an owner. */
export interface Ownership {
  readonly cluster: ClusterIdentity;
  readonly orphans: OrphanRegister;
}

/** Reads the identity of the cluster when a provider asks for it: only providers with cloud objects do. */
export type OwnershipOf = (provider: string, signal: AbortSignal) => Promise<Ownership>;

export function ownership(
  settings: ControllerSettings,
  surroundings: ProviderSurroundings,
  readiness: Readiness,
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
