import { familyOf } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { gatewayLayerAnnotation } from '../services/backend-layer.ts';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { clusterAddresses } from './cluster-addresses.ts';
import { endpointsOfPort, type ServiceEndpoint } from './service-endpoints.ts';
import { holdingOf, type Diversion, type Holding } from './service-proxy.ts';

/**
 * Where the connections to one port in one family go. Pods of a family, and of a port that stands in
 * slices of its own, may be ready before the others: while a Service is held, such a port is served.
 */
export function diversionOfPort(
  diversion: Diversion | undefined,
  service: Service,
  endpoints: readonly ServiceEndpoint[],
): Diversion | undefined {
  const holding = holdingOf(diversion);
  if (holding === undefined || !endpoints.some(isAwake)) return diversion;
  return isReplayedAfter(holding.kind, service) ? { kind: 'replay' } : undefined;
}

/** Whether clients from outside are seen by their own address when it is awake, although nodes hold them now. */
export function isReplayedAfter(way: Holding['kind'], service: Service): boolean {
  return way === 'park' && service.metadata?.annotations?.[gatewayLayerAnnotation] === 'Pod';
}

/** How many of a Service's ports have a ready endpoint; each counts once for each family. */
export interface Readiness {
  readonly hasAll: boolean;
  readonly hasAny: boolean;
}

export function readinessOf(service: Service, slices: readonly EndpointSlice[]): Readiness {
  const isReady = clusterAddresses(service).flatMap((address) =>
    (service.spec?.ports ?? []).map(({ name = '', protocol = 'TCP' }) =>
      endpointsOfPort(slices, { name, protocol }, familyOf(address), '').some(isAwake),
    ),
  );
  return { hasAll: isReady.every(Boolean), hasAny: isReady.some(Boolean) };
}

function isAwake({ isReady, isTerminating }: ServiceEndpoint): boolean {
  return isReady && !isTerminating;
}
