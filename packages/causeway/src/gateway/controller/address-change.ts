import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { LoadBalancerSpec } from '../../services/load-balancer-spec.ts';
import { readPlace } from './annotations.ts';

/** Whether the sharing group has changed since the placement was written. */
export function hasNewSharingGroup(service: Service, { sharingGroup }: LoadBalancerSpec): boolean {
  const written = readPlace(service).sharingGroup;
  return written !== undefined && written !== sharingGroup;
}

/** Why the Service has another address, for its Event. */
export function whyMoved(service: Service, needs: LoadBalancerSpec): string {
  if (needs.requested.size > 0) return 'as requested';
  if (hasNewSharingGroup(service, needs)) return 'because its sharing key has changed';
  return 'because another Service has one of its ports on the former address';
}
