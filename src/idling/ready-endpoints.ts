import type { KubeClient } from '../kube/client.ts';
import type { EndpointSlice } from '../kube/network-objects.ts';
import type { ObjectName } from '../kube/object.ts';
import { endpointSlices } from '../kube/resources.ts';

const serviceLabel = 'kubernetes.io/service-name';

/** Whether connections can be served. Unset means ready; unready and terminating ones do not count. */
export function hasReadyEndpoint(slices: Iterable<EndpointSlice>): boolean {
  for (const { addressType, endpoints } of slices) {
    if (addressType === 'FQDN') continue;
    const isReady = endpoints?.some(
      ({ conditions }) => conditions?.ready !== false && conditions?.terminating !== true,
    );
    if (isReady === true) return true;
  }
  return false;
}

export async function slicesOfService(
  client: KubeClient,
  { namespace, name }: ObjectName,
  signal: AbortSignal,
): Promise<EndpointSlice[]> {
  const labelSelector = `${serviceLabel}=${name}`;
  const slices: EndpointSlice[] = [];
  for await (const slice of client.list(endpointSlices, { namespace, labelSelector, signal })) {
    slices.push(slice);
  }
  return slices;
}
