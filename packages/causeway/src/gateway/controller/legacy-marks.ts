import type { FloatingIp, Port } from '@causeway/openstack/neutron/resources';

/** What ch-k8s-lbaas wrote on its ports and floating IPs. They name no cluster. */
const legacyDescription = 'Managed by cah-loadbalancer';
export const legacyTag = 'cah-loadbalancer.k8s.cloudandheat.com/managed';

/**
 * Whether ch-k8s-lbaas made it. A Service's annotation alone makes nothing ours: users can write it,
 * and it may name a server's port.
 */
export function isInherited({ description, tags }: Port | FloatingIp): boolean {
  return description === legacyDescription || tags.includes(legacyTag);
}
