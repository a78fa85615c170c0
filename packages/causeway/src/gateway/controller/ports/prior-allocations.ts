import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import type { FrontendSpec } from '../../../services/frontend-spec.ts';
import { ingressAddress } from '../../../services/provider.ts';
import { recordOf } from '../../../services/record.ts';
import {
  keepFloatingIpAnnotation,
  legacyManagedAnnotation,
  readPlace,
  readPortIds,
} from './annotations.ts';
import type { PriorAllocation } from './allocation-order.ts';
import { sharingGroupOf, portsAskedFor } from '../../../services/load-balancer-spec.ts';

/**
 * The placements of a Service by its annotations, independent of its spec: an invalid request does not cost a
 * Service its address. Services that are being deleted still have them. `isOurs` says whether the Service
 * matches the provider, which counts for Services of ch-k8s-lbaas.
 */
export function priorAllocations(spec: FrontendSpec, isOurs: boolean): PriorAllocation[] {
  const reading = recordOf(spec);
  if (!isTrusted(spec, isOurs)) return [];
  const { owner, annotations, createdAt } = spec;
  const { held, sharingGroup = sharingGroupOf(spec) } = readPlace(spec);
  return [...readPortIds(spec)].map(([family, portId]) => ({
    owner: owner.uid,
    namespace: owner.namespace,
    portId,
    family,
    sharingGroup,
    ownSharingGroup: sharingGroupOf(spec),
    held: held ?? portsAskedFor(spec),
    isWritten: held !== undefined,
    createdAt,
    advertised: advertisedBy(spec, family),
    publicAddress: recordedFor(spec, family),
    keepsPublic: annotations[keepFloatingIpAnnotation] === 'true',
    // A Service with an unreadable record is on hold: it keeps its placement, and gets nothing new.
    isTakenOver: reading.kind === 'record',
  }));
}

/**
 * Whether the annotations belong to this Service. The record is bound to the UID, so a copied manifest requests
 * nothing. Services of ch-k8s-lbaas have no record yet.
 */
function isTrusted(spec: FrontendSpec, isOurs: boolean): boolean {
  const reading = recordOf(spec);
  if (reading.kind === 'record') return reading.record.provider === 'gateway';
  if (reading.kind === 'unreadable') return true;
  return isOurs && spec.annotations[legacyManagedAnnotation] === 'true';
}

/** The addresses of this family in the Service's status. */
function advertisedBy({ published }: FrontendSpec, wanted: Family): Address[] {
  return published
    .flatMap((text) => tryParseAddress(text) ?? [])
    .filter((address) => familyOf(address) === wanted);
}

/** The address of this family in Causeway's record. */
function recordedFor(spec: FrontendSpec, family: Family): Address | undefined {
  const reading = recordOf(spec);
  if (reading.kind !== 'record') return undefined;
  return reading.record.ingress
    .flatMap((entry) => tryParseAddress(ingressAddress(entry)) ?? [])
    .find((address) => familyOf(address) === family);
}
