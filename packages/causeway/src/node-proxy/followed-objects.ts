import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { ObjectMeta } from '@causeway/kubernetes/objects/object';
import { slimMetadata } from '@causeway/kubernetes/cache/projection';

/** The label with the name of the proxy that serves a Service. */
export const proxyNameLabel = 'service.kubernetes.io/service-proxy-name';
export const serviceNameLabel = 'kubernetes.io/service-name';

/** The fields of a Service that a node's proxy uses. The proxy stores every Service of the cluster. */
export function followedService({ metadata, spec, status }: Service): Service {
  const { selector: _, ...used } = spec ?? {};
  const { loadBalancer } = status ?? {};
  return {
    metadata: followedMetadata(metadata, proxyNameLabel),
    spec: used,
    ...(loadBalancer === undefined ? {} : { status: { loadBalancer } }),
  };
}

/** The fields of a slice that the proxy uses, without target references and owners. */
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

/** With the only label that is used. */
function followedMetadata(metadata: ObjectMeta | undefined, label: string): ObjectMeta {
  const { labels, ownerReferences: _, ...rest } = slimMetadata(metadata);
  const value = labels?.[label];
  return value === undefined ? rest : { ...rest, labels: { [label]: value } };
}
