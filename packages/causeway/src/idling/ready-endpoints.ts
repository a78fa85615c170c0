import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { ObjectName } from '@causeway/kubernetes/objects/object';
import { endpointSlices, pods } from '@causeway/kubernetes/objects/resources';

const serviceLabel = 'kubernetes.io/service-name';

/**
 * Whether the Service can serve connections. Unset means ready. Unready and terminating endpoints do not
 * count.
 */
export function hasReadyEndpoint(slices: Iterable<EndpointSlice>): boolean {
  for (const { addressType, endpoints } of slices) {
    if (addressType === 'FQDN') continue;
    if (endpoints?.some(isReady) === true) return true;
  }
  return false;
}

function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready !== false && conditions?.terminating !== true;
}

/**
 * Whether a ready endpoint will stay. Right after idling, the slices still name pods that are being deleted
 * or are deleted already. They do not count.
 */
export async function hasLastingEndpoint(
  client: KubeClient,
  service: ObjectName,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace = '' } = service;
  for (const { addressType, endpoints } of await slicesOfService(client, service, signal)) {
    if (addressType === 'FQDN') continue;
    for (const { targetRef } of (endpoints ?? []).filter(isReady)) {
      if (targetRef?.kind !== 'Pod' || targetRef.name === undefined) return true;
      const pod = await client.find(pods, { namespace, name: targetRef.name }, { signal });
      if (pod !== undefined && pod.metadata?.deletionTimestamp === undefined) return true;
    }
  }
  return false;
}

async function slicesOfService(
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
