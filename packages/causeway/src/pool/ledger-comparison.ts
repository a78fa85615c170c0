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
/** Departing: the cluster and the ledger agree, and somebody may want to know why it is still held. */
export type FindingKind = (typeof findingKinds)[number] | 'departing';

/** Where the cluster and the ledger don't agree. */
export interface Finding {
  readonly kind: FindingKind;
  /** `namespace/name` */
  readonly service: string;
  readonly uid: string;
  readonly addresses: readonly Address[];
  /** What it means and what to do. */
  readonly message: string;
  /** Of the reservation, where there is one. */
  readonly fence?: number | undefined;
}

/**
 * Compares what the ledger says of the cluster with what its Services say. The reservations must have
 * been read before the Services: one that is for no Service then is for none that will ever be. What
 * is departing is nobody's leak: somebody looks after it already.
 */
export function compareWithLedger(
  reservations: readonly LedgerReservation[],
  services: readonly Service[],
  departing: ReadonlySet<string>,
): Finding[] {
  const byUid = new Map(services.map((service) => [service.metadata?.uid ?? '', service]));
  const shown = new Set(services.flatMap(shownAddresses));
  const held = new Map(reservations.map((reservation) => [reservation.uid, reservation]));
  const leaks = reservations
    .filter(({ purpose, uid }) => purpose === 'load-balancer' && !byUid.has(uid))
    .filter(({ uid }) => !departing.has(uid))
    .map((reservation) => leak(reservation, shown));
  return [...leaks, ...services.flatMap((service) => drift(service, held))];
}

/** Reservations of Services that are gone, kept because somebody is still seen to announce them. */
export function findDeparting(
  reservations: readonly LedgerReservation[],
  departures: readonly PendingRelease[],
): Finding[] {
  const held = new Map(reservations.map((reservation) => [reservation.uid, reservation]));
  return departures.flatMap(({ uid, announced }): Finding[] => {
    const reservation = held.get(uid);
    if (reservation === undefined) return [];
    const { namespace = '?', name = '?', addresses, fence } = reservation;
    const message =
      announced === undefined
        ? 'Its Service is no more. The controller frees it when the ledger lets it.'
        : `Its Service is no more. It is freed when ${announcers[announced.by].title} is seen to have stopped. If that is dead, and nobody announces it: causeway ipam free.`;
    return [{ kind: 'departing', service: `${namespace}/${name}`, uid, addresses, fence, message }];
  });
}

function leak(reservation: LedgerReservation, shown: ReadonlySet<string>): Finding {
  const { uid, namespace = '?', name = '?', addresses, fence } = reservation;
  const still = addresses.find((address) => shown.has(address));
  const common = { service: `${namespace}/${name}`, uid, addresses, fence };
  return still === undefined
    ? {
        ...common,
        kind: 'leaked',
        message: 'Held in the ledger for a Service that is no more. A repair frees it, to rest.',
      }
    : {
        ...common,
        kind: 'leaked-but-shown',
        message: `Its Service is no more, but another one shows ${still}. Look at that one first.`,
      };
}

function drift(service: Service, held: ReadonlyMap<string, LedgerReservation>): Finding[] {
  const holding = readHolding(service);
  if (holding === undefined || holding.addresses.length === 0) return [];
  const addresses = holding.addresses.map(({ address }) => address);
  const common = { service: keyOf(service), uid: holding.uid, addresses };
  const reservation = held.get(holding.uid);
  if (reservation === undefined) {
    const message = 'The ledger knows nothing of it. A repair asks for it by its name.';
    return [{ ...common, kind: 'not-in-ledger', message }];
  }
  if ([...addresses].sort().join() !== [...reservation.addresses].sort().join()) {
    const message = `The ledger has ${reservation.addresses.join(', ')} for it. The controller takes that over when it looks at it next.`;
    return [{ ...common, kind: 'other-address', message, fence: reservation.fence }];
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
  const message = `${announcer.title} was told to announce ${missing.join(', ')} and has not. Is it in one of its pools, and does it look at this Service?`;
  return [{ ...common, kind: 'not-announced', message }];
}

/** Addresses that a Service of type LoadBalancer shows although it doesn't hold them. */
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
