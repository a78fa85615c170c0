import type { Address } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { announcers } from './announcer.ts';
import type { PendingRelease } from './pending-releases.ts';
import { readHolding, type Holding } from './holding.ts';
import type { LedgerReservation } from './pool-ledger.ts';

export const findingKinds = [
  'leaked',
  'leaked-but-shown',
  'not-in-ledger',
  'other-address',
  'not-announced',
  'not-reserved',
] as const;
/** Releasing: the cluster and the ledger agree, and the finding explains why the reservation still exists. */
export type FindingKind = (typeof findingKinds)[number] | 'releasing';

/** A difference between the cluster and the ledger. */
export interface Finding {
  readonly kind: FindingKind;
  /** `namespace/name` */
  readonly service: string;
  readonly uid: string;
  readonly addresses: readonly Address[];
  /** The meaning and the remedy. */
  readonly message: string;
  /** The fencing token of the reservation, if there is one. */
  readonly fencingToken?: number | undefined;
}

/**
 * Compares the reservations of the cluster with its Services. The reservations must be read before the
 * Services: a reservation without a Service then stays without one. Pending releases are no leaks, because
 * the release watch handles them.
 */
export function compareWithLedger(
  reservations: readonly LedgerReservation[],
  services: readonly Service[],
  releasing: ReadonlySet<string>,
): Finding[] {
  const byUid = new Map(services.map((service) => [service.metadata?.uid ?? '', service]));
  const shown = new Set(services.flatMap(shownAddresses));
  const held = new Map(reservations.map((reservation) => [reservation.uid, reservation]));
  const leaks = reservations
    .filter(({ purpose, uid }) => purpose === 'load-balancer' && !byUid.has(uid))
    .filter(({ uid }) => !releasing.has(uid))
    .map((reservation) => leak(reservation, shown));
  return [...leaks, ...services.flatMap((service) => drift(service, held))];
}

/** Reservations of deleted Services that are kept because they are still seen announced. */
export function findPending(
  reservations: readonly LedgerReservation[],
  releases: readonly PendingRelease[],
): Finding[] {
  const held = new Map(reservations.map((reservation) => [reservation.uid, reservation]));
  return releases.flatMap(({ uid, announced }): Finding[] => {
    const reservation = held.get(uid);
    if (reservation === undefined) return [];
    const { namespace = '?', name = '?', addresses, fencingToken } = reservation;
    const message =
      announced === undefined
        ? 'The Service was deleted. The controller frees the reservation as soon as the ledger accepts that.'
        : `The Service was deleted. The controller frees the reservation when ${announcers[announced.by].title} no longer announces the address. If the announcer is dead, free it with: causeway ipam free.`;
    return [
      { kind: 'releasing', service: `${namespace}/${name}`, uid, addresses, fencingToken, message },
    ];
  });
}

function leak(reservation: LedgerReservation, shown: ReadonlySet<string>): Finding {
  const { uid, namespace = '?', name = '?', addresses, fencingToken } = reservation;
  const still = addresses.find((address) => shown.has(address));
  const common = { service: `${namespace}/${name}`, uid, addresses, fencingToken };
  return still === undefined
    ? {
        ...common,
        kind: 'leaked',
        message:
          'The ledger has a reservation for a deleted Service. A repair frees the reservation, and the address goes to quarantine.',
      }
    : {
        ...common,
        kind: 'leaked-but-shown',
        message: `The Service was deleted, but another Service shows ${still}. Check the other Service first.`,
      };
}

function drift(service: Service, held: ReadonlyMap<string, LedgerReservation>): Finding[] {
  const holding = readHolding(service);
  if (holding === undefined || holding.addresses.length === 0) return [];
  const addresses = holding.addresses.map(({ address }) => address);
  const common = { service: keyOf(service), uid: holding.uid, addresses };
  const reservation = held.get(holding.uid);
  if (reservation === undefined) {
    const message =
      'The ledger has no reservation for the Service. A repair requests the same addresses again.';
    return [{ ...common, kind: 'not-in-ledger', message }];
  }
  if ([...addresses].sort().join() !== [...reservation.addresses].sort().join()) {
    const message = `The ledger has ${reservation.addresses.join(', ')} for the Service. The controller uses these addresses with the next reconcile.`;
    return [{ ...common, kind: 'other-address', message, fencingToken: reservation.fencingToken }];
  }
  return notAnnounced(service, holding, common);
}

function notAnnounced(
  service: Service,
  holding: Holding,
  common: Pick<Finding, 'service' | 'uid' | 'addresses'>,
): Finding[] {
  const announcer = announcers[holding.announcer];
  if (holding.stoppedAt !== undefined || announcer.statusWriter === 'controller') return [];
  const shown = shownAddresses(service);
  const missing = common.addresses.filter((address) => !shown.includes(address));
  if (missing.length === 0) return [];
  const message = `${announcer.title} does not announce ${missing.join(', ')}. Check that a pool of the announcer has the address, and that the announcer serves this Service.`;
  return [{ ...common, kind: 'not-announced', message }];
}

/** Addresses that a Service of type LoadBalancer shows without holding them. */
export function strangeAddresses(service: Service): string[] {
  if (service.spec?.type !== 'LoadBalancer') return [];
  const own = readHolding(service)?.addresses.flatMap(({ address, publicAddress }) => [
    address,
    publicAddress,
  ]);
  return shownAddresses(service).filter((address) => own?.includes(address as Address) !== true);
}

function shownAddresses(service: Service): string[] {
  return (service.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []);
}
