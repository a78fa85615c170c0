import type { FloatingIp, Port } from '@causeway/openstack/neutron/resources';

/** The description of ch-k8s-lbaas on its ports and floating IPs. It names no cluster. */
const legacyDescription = 'Managed by cah-loadbalancer';
export const legacyTag = 'cah-loadbalancer.k8s.cloudandheat.com/managed';

/**
 * Whether ch-k8s-lbaas created the object. A Service's annotation alone is no proof of ownership: users can
 * write it, and it may name a server's port.
 */
export function isInherited({ description, tags }: Port | FloatingIp): boolean {
  return description === legacyDescription || tags.includes(legacyTag);
}
