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
 * What a Service has by its annotations, whatever it asks for now: nobody loses the address it is served
 * on because a request of its has become impossible. Those that are being deleted still have it. `isOurs`
 * says whether we would take it over, which counts for Services that come from ch-k8s-lbaas.
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
    // One whose record can't be read is on hold: it keeps what it has, and gets nothing new.
    isTakenOver: reading.kind === 'record',
  }));
}

/**
 * Whether its annotations are its own: our record is bound to its UID, so a copy of a manifest claims
 * nothing. Services that come from ch-k8s-lbaas have no record yet.
 */
function isTrusted(service: Service, isOurs: boolean): boolean {
  const reading = readRecord(service);
  if (reading.kind === 'record') return reading.record.provider === 'gateway';
  if (reading.kind === 'unreadable') return true;
  return isOurs && service.metadata?.annotations?.[legacyManagedAnnotation] === 'true';
}

/** What the Service's users are told in this family. */
function advertisedBy(service: Service, wanted: Family): Address[] {
  return (service.status?.loadBalancer?.ingress ?? [])
    .flatMap(({ ip = '' }) => tryParseAddress(ip) ?? [])
    .filter((address) => familyOf(address) === wanted);
}

/** What we have told them, by our own record. */
function recordedFor(service: Service, family: Family): Address | undefined {
  const reading = readRecord(service);
  if (reading.kind !== 'record') return undefined;
  return reading.record.ingress
    .flatMap((entry) => tryParseAddress(ingressAddress(entry)) ?? [])
    .find((address) => familyOf(address) === family);
}
