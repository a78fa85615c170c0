import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { ingressAddress } from '../../services/provider.ts';
import { readRecord } from '../../services/record.ts';
import {
  keepFloatingIpAnnotation,
  legacyManagedAnnotation,
  readPlace,
  readPortIds,
} from './annotations.ts';
import type { PriorAllocation } from './allocation-order.ts';
import { sharingGroupOf, portsAskedFor } from '../../services/load-balancer-spec.ts';

/**
 * The placements of a Service by its annotations, independent of its spec: an invalid request does not cost a
 * Service its address. Services that are being deleted still have them. `isOurs` says whether the provider
 * claims the Service, which counts for Services of ch-k8s-lbaas.
 */
export function priorAllocations(service: Service, isOurs: boolean): PriorAllocation[] {
  const reading = readRecord(service);
  if (!isTrusted(service, isOurs)) return [];
  const { metadata } = service;
  const { held, sharingGroup = sharingGroupOf(service) } = readPlace(service);
  return [...readPortIds(service)].map(([family, portId]) => ({
    owner: metadata?.uid ?? '',
    namespace: metadata?.namespace ?? '',
    portId,
    family,
    sharingGroup,
    ownSharingGroup: sharingGroupOf(service),
    held: held ?? portsAskedFor(service),
    isWritten: held !== undefined,
    createdAt: metadata?.creationTimestamp ?? '',
    advertised: advertisedBy(service, family),
    publicAddress: recordedFor(service, family),
    keepsPublic: metadata?.annotations?.[keepFloatingIpAnnotation] === 'true',
    // A Service with an unreadable record is on hold: it keeps its placement, and gets nothing new.
    isTakenOver: reading.kind === 'record',
  }));
}

/**
 * Whether the annotations belong to this Service. The record is bound to the UID, so a copied manifest claims
 * nothing. Services of ch-k8s-lbaas have no record yet.
 */
function isTrusted(service: Service, isOurs: boolean): boolean {
  const reading = readRecord(service);
  if (reading.kind === 'record') return reading.record.provider === 'gateway';
  if (reading.kind === 'unreadable') return true;
  return isOurs && service.metadata?.annotations?.[legacyManagedAnnotation] === 'true';
}

/** The addresses of this family in the Service's status. */
function advertisedBy(service: Service, wanted: Family): Address[] {
  return (service.status?.loadBalancer?.ingress ?? [])
    .flatMap(({ ip = '' }) => tryParseAddress(ip) ?? [])
    .filter((address) => familyOf(address) === wanted);
}

/** The address of this family in Causeway's record. */
function recordedFor(service: Service, family: Family): Address | undefined {
  const reading = readRecord(service);
  if (reading.kind !== 'record') return undefined;
  return reading.record.ingress
    .flatMap((entry) => tryParseAddress(ingressAddress(entry)) ?? [])
    .find((address) => familyOf(address) === family);
}
