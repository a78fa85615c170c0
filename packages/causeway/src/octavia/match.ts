import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Claim } from '../services/provider.ts';
import { octaviaAnnotation } from './annotations.ts';

export const octaviaClass = 'causeway.dev/octavia';

/** Services that the cluster depends on. They get a load balancer only on request. */
const foundations = new Set(['kube-system/kube-dns', 'openshift-dns/dns-default']);

/** The cluster DNS has this label, whatever the name of its Service. */
function isFoundation({ metadata = {} }: Service): boolean {
  const { namespace, name, labels = {} } = metadata;
  const isDns = namespace === 'kube-system' && labels['k8s-app'] === 'kube-dns';
  return isDns || foundations.has(`${namespace}/${name}`);
}

/**
 * Decides which Services belong to the provider: type LoadBalancer by class or default, type ClusterIP on
 * request. `isServed`: the Service already has a load balancer, possibly of Kuryr, which must stay.
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
