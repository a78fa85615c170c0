import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import type { KnownSite } from './decision.ts';
import type { Demand, HeldAddress, Owner, Purpose } from './records.ts';
import { Refusal } from './refusal.ts';

export interface ReserveRequest {
  readonly site: string;
  readonly cluster: string;
  readonly demand: Demand;
  /** Wait in the queue, until this time, if no address is available. */
  readonly waitUntil?: number | undefined;
  readonly reason?: string | undefined;
}

export interface Reservation {
  readonly site: string;
  readonly cluster: string;
  readonly uid: string;
  readonly purpose: Purpose;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly addresses: readonly { address: Address; family: Family; pool: string }[];
  readonly fencingToken: number;
  readonly since: number;
}

export type ReserveAnswer =
  | { readonly state: 'held'; readonly reservation: Reservation }
  | { readonly state: 'waiting'; readonly position: number };

/** The owner in the record of an address. */
export function ownerOf(demand: Demand, fencingToken: number, now: number): Owner {
  const { uid, purpose, namespace, name, ports } = demand;
  return { uid, purpose, namespace, name, ports, fencingToken, since: now };
}

export function refuseIfMoved(site: KnownSite): void {
  if (site.record.suspended?.as !== 'moved') return;
  throw new Refusal('gone', 'moved', `site ${site.record.name} was moved to another ledger`, {
    hint: 'Point clients at the server of the new ledger.',
  });
}

/** Refuses a call for an earlier reservation of the owner. */
export function refuseStaleFencingToken(
  request: { readonly uid: string; readonly fencingToken: number | undefined },
  owned: readonly HeldAddress[],
): void {
  if (request.fencingToken === undefined) return;
  for (const { owners } of owned) {
    const owner = owners.find(({ uid }) => uid === request.uid);
    if (owner === undefined || owner.fencingToken === request.fencingToken) continue;
    throw new Refusal(
      'conflict',
      'stale-fencing-token',
      `the reservation has fencing token ${owner.fencingToken}, not ${request.fencingToken}`,
      { hint: 'The reservation is newer than this call. Read it again.' },
    );
  }
}

export function heldAnswer(request: ReserveRequest, held: readonly HeldAddress[]): ReserveAnswer {
  return {
    state: 'held',
    reservation: reservationOf(request.site, request.cluster, request.demand.uid, held),
  };
}

/** The reservation of one owner, composed of its addresses. */
export function reservationOf(
  site: string,
  cluster: string,
  uid: string,
  held: readonly HeldAddress[],
): Reservation {
  const owner = held.flatMap(({ owners }) => owners.find((each) => each.uid === uid) ?? [])[0];
  return {
    site,
    cluster,
    uid,
    purpose: owner?.purpose ?? 'load-balancer',
    namespace: owner?.namespace,
    name: owner?.name,
    addresses: held
      .map(({ address, pool }) => ({ address, family: familyOf(address), pool }))
      .sort((left, right) => left.family - right.family),
    fencingToken: owner?.fencingToken ?? 0,
    since: owner?.since ?? 0,
  };
}

export function describeOwner(owner: {
  readonly uid: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}): string {
  return owner.name === undefined ? owner.uid : `${owner.namespace}/${owner.name} (${owner.uid})`;
}
