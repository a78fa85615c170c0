import { ownerKey, type FrontendSpec } from '../services/frontend-spec.ts';
import type { Match } from '../services/provider.ts';
import { octaviaAnnotation } from './annotations.ts';

export const octaviaClass = 'causeway.dev/octavia';

/** Services that the cluster depends on. They get a load balancer only on request. */
const foundations = new Set(['kube-system/kube-dns', 'openshift-dns/dns-default']);

/** The cluster DNS has this label, whatever the name of its Service. */
function isFoundation({ owner, labels }: FrontendSpec): boolean {
  const isDns = owner.namespace === 'kube-system' && labels['k8s-app'] === 'kube-dns';
  return isDns || foundations.has(ownerKey(owner));
}

/**
 * Decides which Services belong to the provider: type LoadBalancer by class or default, type ClusterIP on
 * request. `isServed`: the Service already has a load balancer, possibly of Kuryr, which must stay.
 */
export function matchOf(
  frontend: FrontendSpec,
  clusterIp: 'annotated' | 'all',
  isServed: () => boolean,
): Match {
  const { owner, annotations, exposure, className, backends } = frontend;
  const said = annotations[octaviaAnnotation];
  if (said === 'false' || ownerKey(owner) === 'default/kubernetes') return 'no';
  if (exposure === 'external') {
    if (className === undefined) return said === 'true' ? 'yes' : 'if-default';
    return className === octaviaClass ? 'yes' : 'no';
  }
  if (exposure === 'none' || backends.clusterAddresses.length === 0) return 'no';
  if (said === 'true') return 'yes';
  return clusterIp === 'all' && (!isFoundation(frontend) || isServed()) ? 'yes' : 'no';
}
