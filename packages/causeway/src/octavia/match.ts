import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Claim } from '../services/provider.ts';
import { octaviaAnnotation } from './annotations.ts';

export const octaviaClass = 'causeway.dev/octavia';

/** Services that the cluster itself stands on: a load balancer in front of them must be asked for. */
const foundations = new Set(['kube-system/kube-dns', 'openshift-dns/dns-default']);

/** However its Service is called, the cluster's DNS has this label. */
function isFoundation({ metadata = {} }: Service): boolean {
  const { namespace, name, labels = {} } = metadata;
  const isDns = namespace === 'kube-system' && labels['k8s-app'] === 'kube-dns';
  return isDns || foundations.has(`${namespace}/${name}`);
}

/**
 * Whose Services are ours: type LoadBalancer by class or default, type ClusterIP when asked for. `isServed`:
 * it has a load balancer already, which Kuryr may have made, and which must go on.
 */
export function claimOf(
  service: Service,
  clusterIp: 'annotated' | 'all',
  isServed: () => boolean,
): Claim {
  const { type = 'ClusterIP', clusterIP, loadBalancerClass } = service.spec ?? {};
  const { namespace, name, annotations = {} } = service.metadata ?? {};
  const said = annotations[octaviaAnnotation];
  if (said === 'false' || `${namespace}/${name}` === 'default/kubernetes') return 'no';
  if (type === 'LoadBalancer') {
    if (loadBalancerClass === undefined) return said === 'true' ? 'yes' : 'if-default';
    return loadBalancerClass === octaviaClass ? 'yes' : 'no';
  }
  if (type !== 'ClusterIP' || clusterIP === undefined || clusterIP === '' || clusterIP === 'None') {
    return 'no';
  }
  if (said === 'true') return 'yes';
  return clusterIp === 'all' && (!isFoundation(service) || isServed()) ? 'yes' : 'no';
}
