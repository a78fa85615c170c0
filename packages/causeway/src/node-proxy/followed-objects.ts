import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { ObjectMeta } from '@causeway/kubernetes/objects/object';
import { slimMetadata } from '@causeway/kubernetes/cache/projection';

/** Whose Service it is: that of the proxy with this name. */
export const proxyNameLabel = 'service.kubernetes.io/service-proxy-name';
export const serviceNameLabel = 'kubernetes.io/service-name';

/** What a node's proxy uses of a Service: it holds every one of the cluster. */
export function followedService({ metadata, spec, status }: Service): Service {
  const { selector: _, ...used } = spec ?? {};
  const { loadBalancer } = status ?? {};
  return {
    metadata: followedMetadata(metadata, proxyNameLabel),
    spec: used,
    ...(loadBalancer === undefined ? {} : { status: { loadBalancer } }),
  };
}

/** The same of a slice: not which pods its endpoints are, nor who owns it. */
export function followedSlice({
  metadata,
  addressType,
  ports,
  endpoints,
}: EndpointSlice): EndpointSlice {
  return {
    metadata: followedMetadata(metadata, serviceNameLabel),
    addressType,
    ...(ports === undefined ? {} : { ports }),
    ...(endpoints === undefined ? {} : { endpoints: endpoints?.map(followedEndpoint) ?? null }),
  };
}

function followedEndpoint({ addresses, conditions, nodeName, hints }: Endpoint): Endpoint {
  return {
    addresses,
    ...(conditions === undefined ? {} : { conditions }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(hints === undefined ? {} : { hints }),
  };
}

/** With one label, the only one that is looked at. */
function followedMetadata(metadata: ObjectMeta | undefined, label: string): ObjectMeta {
  const { labels, ownerReferences: _, ...rest } = slimMetadata(metadata);
  const value = labels?.[label];
  return value === undefined ? rest : { ...rest, labels: { [label]: value } };
}
