import { isDeepStrictEqual } from 'node:util';
import { familyOf, type Family } from '@causeway/base/address/address';
import { recoverReservation } from './recovery-reservation.ts';
import {
  deciding,
  findCluster,
  findSite,
  nextSequence,
  put,
  remove,
  type Decide,
  type Decision,
  type KnownSite,
  type Moment,
} from './decision.ts';
import { keys } from './keys.ts';
import type { Write } from './ledger.ts';
import type { ClusterRecord, Demand, HeldAddress, Owner, WaiterRecord } from './records.ts';
import { Refusal } from './refusal.ts';
import {
  describeOwner,
  heldAnswer,
  ownerOf,
  refuseIfMoved,
  type ReserveAnswer,
  type ReserveRequest,
} from './reservation.ts';
import { isWaiting, placeKeptMs } from './queue.ts';
import { isImported, pickAddress, type Choice, type Pick } from './reserve-pick.ts';
import type { Kept, SiteView } from './site-view.ts';

/** Reserves the missing addresses of the demand, all or nothing. The owner keeps its current addresses. */
export function reserve(request: ReserveRequest): Decide<ReserveAnswer> {
  return (view, moment) =>
    deciding(() => {
      const site = findSite(view, request.site);
      return reserveFor(request, site, findCluster(site.view, request.cluster), moment);
    });
}

/** The same for a cluster that may not be in the ledger yet. Refusals are thrown. */
export function reserveFor(
  request: ReserveRequest,
  site: KnownSite,
  cluster: Kept<ClusterRecord>,
  moment: Moment,
): Decision<ReserveAnswer> {
  refuseIfMoved(site);
  if (site.record.suspended?.as === 'recovering')
    return recoverReservation(request, site, cluster, moment);
  const { demand } = request;
  const owned = site.view.ownedBy(cluster.record.epoch, demand.uid).map(({ record }) => record);
  refuseOtherAddress(demand, owned);
  const have = new Set(owned.map(({ address }) => familyOf(address)));
  const missing = demand.families.filter((family) => !have.has(family));
  if (missing.length === 0) return { kind: 'answer', answer: heldAnswer(request, owned) };
  const waiter = site.view.waiters.get(keys.waiter(request.site, request.cluster, demand.uid));
  const waits = waiter !== undefined && isWaiting(site.view, waiter.record, moment.now);
  const place = waits ? waiter.record.place : undefined;
  const choice: Choice = { site: site.view, cluster, demand, place, moment };
  const picks: Pick[] = [];
  for (const family of missing) {
    const pick = pickAddress(choice, family);
    if (pick === 'busy') return { kind: 'busy' };
    if (pick === undefined) return nothingLeft(request, site, choice, family);
    picks.push(pick);
  }
  refuseOverQuota(site, cluster, picks);
  return granted(request, site, choice, owned, picks);
}

function granted(
  request: ReserveRequest,
  site: KnownSite,
  choice: Choice,
  owned: readonly HeldAddress[],
  picks: readonly Pick[],
): Decision<ReserveAnswer> {
  const { cluster, demand, moment } = choice;
  const after = nextSequence(cluster);
  const before = owned.flatMap(({ owners }) => owners.find(({ uid }) => uid === demand.uid) ?? []);
  // An owner has one fencing token: later addresses get the fencing token that the owner knows.
  const owner = ownerOf(demand, before[0]?.fencingToken ?? after.sequence, moment.now);
  const held = picks.map((pick) => heldBy(pick, owner, after, demand));
  const waiterKey = keys.waiter(request.site, request.cluster, demand.uid);
  const waits = site.view.waiters.has(waiterKey);
  const writes: Write[] = [
    put(cluster.key, after),
    ...held.map((record) => put(keys.address(request.site, record.address), record)),
    ...(waits ? [remove(waiterKey)] : []),
    ...standInLine(request.site, choice, picks),
  ];
  return {
    kind: 'change',
    reads: [
      site.key,
      cluster.key,
      keys.queue(request.site),
      ...held.map(({ address }) => keys.address(request.site, address)),
    ],
    writes,
    audit: {
      action: 'reserve',
      site: request.site,
      cluster: request.cluster,
      addresses: held.map(({ address }) => address),
      owner: describeOwner(demand),
      reason: request.reason,
    },
    answer: heldAnswer(request, [...owned, ...held]),
  };
}

/**
 * Others wait for addresses of the same pool. The number left for this request is valid only until another
 * request takes one. So while there is a queue, requests that pass it are serialized.
 */
function standInLine(siteName: string, { site }: Choice, picks: readonly Pick[]): Write[] {
  const passes = picks.some((pick) => pick.kind === 'fresh' && pick.passesQueue);
  const queue = site.queue?.record;
  return passes && queue !== undefined ? [put(keys.queue(siteName), queue)] : [];
}

function heldBy(pick: Pick, owner: Owner, cluster: ClusterRecord, demand: Demand): HeldAddress {
  if (pick.kind === 'join') return { ...pick.held, owners: [...pick.held.owners, owner] };
  if (pick.kind === 'adopt') {
    const others = pick.held.owners.filter(
      ({ uid, name, namespace }) =>
        !(isImported(uid) && name === demand.name && namespace === demand.namespace),
    );
    return { ...pick.held, owners: [...others, owner], sharingKey: demand.sharingKey };
  }
  const { address, pool } = pick;
  const { name, epoch } = cluster;
  const { sharingKey } = demand;
  return { state: 'held', address, pool, cluster: name, epoch, owners: [owner], sharingKey };
}

/** No address is available: the request gets a place in the queue, or is refused. */
function nothingLeft(
  request: ReserveRequest,
  site: KnownSite,
  choice: Choice,
  family: Family,
): Decision<ReserveAnswer> {
  const { demand, cluster, moment, place } = choice;
  if (request.waitUntil === undefined || demand.addresses.length > 0) {
    throw new Refusal('exhausted', 'pool-exhausted', `no IPv${family} address is left`, {
      hint: 'Add addresses to a pool, or ask with "wait"; quarantined addresses become available again.',
    });
  }
  refuseOverQuota(site, cluster, []);
  const key = keys.waiter(request.site, request.cluster, demand.uid);
  const queueKey = keys.queue(request.site);
  const known = place === undefined ? undefined : site.view.waiters.get(key)?.record;
  const nextPlace = site.view.queue?.record.nextPlace ?? 1;
  const answer: ReserveAnswer = {
    state: 'waiting',
    position: positionOf(site.view, place ?? nextPlace, moment.now),
  };
  if (known !== undefined && isKeptLongEnough(known, request.waitUntil, demand)) {
    return { kind: 'answer', answer };
  }
  // Continued waiting needs no audit record.
  const isLonger = known !== undefined && isSameDemand(known.demand, demand);
  const record: WaiterRecord = {
    cluster: request.cluster,
    epoch: cluster.record.epoch,
    demand,
    place: place ?? nextPlace,
    since: known?.since ?? moment.now,
    expires: request.waitUntil,
  };
  return {
    kind: 'change',
    reads: [site.key, cluster.key, queueKey, key],
    writes: [put(queueKey, { nextPlace: Math.max(nextPlace, record.place + 1) }), put(key, record)],
    audit: isLonger
      ? undefined
      : {
          action: 'wait',
          site: request.site,
          cluster: request.cluster,
          owner: describeOwner(demand),
          reason: request.reason,
        },
    answer,
  };
}

/** A place is extended only after half of its time: otherwise every request would be a change. */
function isKeptLongEnough(known: WaiterRecord, until: number, asked: Demand): boolean {
  return known.expires >= until - placeKeptMs / 2 && isSameDemand(known.demand, asked);
}

/** As the ledger stores them: without undefined fields. */
function isSameDemand(one: Demand, other: Demand): boolean {
  const kept = (demand: Demand): unknown => JSON.parse(JSON.stringify(demand));
  return isDeepStrictEqual(kept(one), kept(other));
}

/** Number of earlier waiters, plus one. */
export function positionOf(site: SiteView, place: number, now: number): number {
  let ahead = 0;
  for (const { record } of site.waiters.values()) {
    if (record.place < place && isWaiting(site, record, now)) ahead += 1;
  }
  return ahead + 1;
}

function refuseOtherAddress(demand: Demand, owned: readonly HeldAddress[]): void {
  for (const { address } of owned) {
    const named = demand.addresses.find((name) => familyOf(name) === familyOf(address));
    if (named === undefined || named === address) continue;
    throw new Refusal('conflict', 'other-address', `this owner already has ${address}`, {
      hint: `Free it first to get ${named}; an owner is never renumbered.`,
    });
  }
}

function refuseOverQuota(
  site: KnownSite,
  cluster: Kept<ClusterRecord>,
  picks: readonly Pick[],
): void {
  const quota = cluster.record.quota ?? site.record.defaultQuota;
  if (quota === undefined) return;
  const held = site.view.heldBy(cluster.record.epoch).size;
  const more = Math.max(1, picks.filter(({ kind }) => kind === 'fresh').length);
  if (picks.length > 0 && picks.every(({ kind }) => kind !== 'fresh')) return;
  if (held + more <= quota) return;
  throw new Refusal(
    'exhausted',
    'quota',
    `cluster ${cluster.record.name} holds ${held} of ${quota} addresses`,
    { hint: 'Free some, or have an operator raise the quota.' },
  );
}
