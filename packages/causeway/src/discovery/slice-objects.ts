import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { contentMark } from './content-mark.ts';
import {
  annotations,
  labels,
  manager,
  originLabels,
  originMarks,
  type Origin,
} from './ownership.ts';
import type { Place } from './service-object.ts';
import type { EndpointGroup, WantedEndpoint, WantedPort } from './translate.ts';

const mostEndpoints = 100;

/**
 * The slices of a Service: at most 100 endpoints each, all of one family and one member port. An address
 * stays in its slice, so that one more member changes one slice.
 */
export function sliceObjects(
  origin: Origin,
  service: Place,
  ports: readonly WantedPort[],
  current: ReadonlyMap<string, EndpointSlice>,
): EndpointSlice[] {
  return ports.flatMap((port) =>
    port.groups.flatMap((group) => {
      const base = sliceBase(service.name, port, group);
      return assignToSlices(group.endpoints, (index) => current.get(`${base}-${index}`)).flatMap(
        (endpoints, index) =>
          endpoints.length === 0
            ? []
            : [sliceObject(origin, service, `${base}-${index}`, port, group, endpoints)],
      );
    }),
  );
}

/** Not hashed, because tenants choose names and ports: they could find two with the same digest. */
function sliceBase(
  service: string,
  { port, protocol }: WantedPort,
  { memberPort, family }: EndpointGroup,
): string {
  return `${service}-${port}-${protocol}-${memberPort}-${family}`.toLowerCase();
}

/** Endpoints by the number of their slice. Free places are filled before a new slice is added. */
function assignToSlices(
  endpoints: readonly WantedEndpoint[],
  slice: (index: number) => EndpointSlice | undefined,
): WantedEndpoint[][] {
  const wanted = new Map(endpoints.map((endpoint) => [endpoint.address as string, endpoint]));
  const slices: WantedEndpoint[][] = [];
  // Slice numbers are unbounded and an emptied slice leaves a gap, so the search goes a little further.
  const reach = Math.ceil(endpoints.length / mostEndpoints) * 2 + 8;
  for (let index = 0; index < reach; index += 1) {
    const kept: WantedEndpoint[] = [];
    for (const { addresses } of slice(index)?.endpoints ?? []) {
      const endpoint = wanted.get(addresses[0] ?? '');
      if (endpoint === undefined || kept.length === mostEndpoints) continue;
      kept.push(endpoint);
      wanted.delete(endpoint.address);
    }
    slices.push(kept);
  }
  const added = [...wanted.values()];
  for (let index = 0; added.length > 0; index += 1) {
    const place = (slices[index] ??= []);
    place.push(...added.splice(0, Math.max(0, mostEndpoints - place.length)));
  }
  return slices.map((part) => part.sort((left, right) => (left.address < right.address ? -1 : 1)));
}

function sliceObject(
  origin: Origin,
  service: Place,
  name: string,
  { name: portName, protocol, appProtocol }: WantedPort,
  { family, memberPort }: EndpointGroup,
  endpoints: readonly WantedEndpoint[],
): EndpointSlice {
  const { namespace } = service;
  const isUneven = endpoints.some(({ weight }) => weight !== endpoints[0]?.weight);
  const weights = Object.fromEntries(endpoints.map(({ address, weight }) => [address, weight]));
  return {
    metadata: {
      namespace,
      name,
      labels: {
        ...originLabels(origin),
        [labels.serviceName]: service.name,
        [labels.sliceManagedBy]: manager,
      },
      annotations: {
        ...originMarks(origin, { namespace, name }),
        ...contentMark([
          `${portName}/${protocol}/${memberPort}`,
          ...endpoints.map(({ address }) => address),
        ]),
        ...(isUneven ? { [annotations.weights]: JSON.stringify(weights) } : {}),
      },
    },
    addressType: family,
    endpoints: endpoints.map(endpointOf),
    ports: [
      {
        name: portName,
        protocol,
        port: memberPort,
        ...(appProtocol === undefined ? {} : { appProtocol }),
      },
    ],
  };
}

/** Not serving if not ready: Kubernetes falls back to serving endpoints, a load balancer does not. */
function endpointOf({ address, isReady }: WantedEndpoint): Endpoint {
  return {
    addresses: [address],
    conditions: { ready: isReady, serving: isReady, terminating: false },
  };
}
