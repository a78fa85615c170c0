import { familyOf } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { gatewayLayerAnnotation } from '../services/backend-layer.ts';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { clusterAddresses } from './cluster-addresses.ts';
import { endpointsOfPort, type ServiceEndpoint } from './service-endpoints.ts';
import { holdingOf, type Diversion, type Holding } from './served-service.ts';

/**
 * Decides where the connections to one port in one family go. Pods of one family or port may be ready before
 * the others: such a port is served while the rest of the Service is held.
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

/**
 * Whether external clients keep their own address when the Service is awake, although nodes hold their
 * packets now.
 */
export function isReplayedAfter(way: Holding['kind'], service: Service): boolean {
  return way === 'park' && service.metadata?.annotations?.[gatewayLayerAnnotation] === 'Pod';
}

/** Number of a Service's ports with a ready endpoint; each counts once per family. */
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
