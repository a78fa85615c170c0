import type { Endpoints, Service } from '../kube/core-objects.ts';
import type { EndpointSlice } from '../kube/network-objects.ts';

/** What there is for one load balancer or one project, in whatever namespace. */
export interface CurrentObjects {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  readonly endpoints: readonly Endpoints[];
}

/** What a load balancer would lose: itself, all its ports, or all its endpoints. */
export type Loss = 'load-balancer' | 'ports' | 'endpoints';

/** What is lost where these objects take the place of those. */
export function lossBetween(before: CurrentObjects, after: CurrentObjects): Loss | undefined {
  if (before.services.some(hasPorts) && !after.services.some(hasPorts)) return 'ports';
  return hasAnyEndpoints(before) && !hasAnyEndpoints(after) ? 'endpoints' : undefined;
}

/** Whether there is anything that a user could reach, and miss. */
export function hasContent(objects: CurrentObjects): boolean {
  return objects.services.some(hasPorts) || hasAnyEndpoints(objects);
}

export function hasPorts({ spec }: Service): boolean {
  return (spec?.ports ?? []).length > 0;
}

export function hasEndpoints({ endpoints }: EndpointSlice): boolean {
  return (endpoints ?? []).length > 0;
}

export function hasAddresses({ subsets }: Endpoints): boolean {
  return (subsets ?? []).some(
    ({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length > 0,
  );
}

function hasAnyEndpoints({ slices, endpoints }: CurrentObjects): boolean {
  return slices.some(hasEndpoints) || endpoints.some(hasAddresses);
}
