import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';

/**
 * The slices of a Service during a mass loss. When kubelets lose the API server, Kubernetes marks all pods of
 * their nodes as not ready. If a Service has no ready endpoint left, the endpoints for which `isDoubtful`
 * returns true count as ready. Terminating endpoints never do.
 */
export function keepEndpoints(
  slices: readonly EndpointSlice[],
  isDoubtful: (endpoint: Endpoint) => boolean,
): readonly EndpointSlice[] {
  const isReady = ({ conditions }: Endpoint) => conditions?.ready !== false;
  const isKept = (endpoint: Endpoint) =>
    endpoint.conditions?.terminating !== true && isDoubtful(endpoint);
  const all = slices.flatMap(({ endpoints = [] }) => endpoints ?? []);
  if (all.some(isReady) || !all.some(isKept)) return slices;
  return slices.map((slice) => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).map((endpoint) =>
      isKept(endpoint)
        ? { ...endpoint, conditions: { ...endpoint.conditions, ready: true, serving: true } }
        : endpoint,
    ),
  }));
}
