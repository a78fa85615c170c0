import type { FrontendSpec } from '../../../services/frontend-spec.ts';
import type { LoadBalancerSpec } from '../../../services/load-balancer-spec.ts';
import { readPlace, releaseAddressAnnotation } from './annotations.ts';

/** Whether the sharing group has changed since the placement was written. */
export function hasNewSharingGroup(
  spec: FrontendSpec,
  { sharingGroup }: LoadBalancerSpec,
): boolean {
  const written = readPlace(spec).sharingGroup;
  return written !== undefined && written !== sharingGroup;
}

/** Whether the Service is asked to leave an address that new Services don't get. */
export function releasesAddress({ annotations }: FrontendSpec): boolean {
  return annotations[releaseAddressAnnotation] === 'true';
}

/** Why the Service has another address, for its Event. */
export function whyMoved(spec: FrontendSpec, needs: LoadBalancerSpec): string {
  if (needs.requested.size > 0 || releasesAddress(spec)) return 'as requested';
  if (hasNewSharingGroup(spec, needs)) return 'because its sharing key has changed';
  return 'because another Service has one of its ports on the former address';
}
