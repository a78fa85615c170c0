import { familyOf, type Address } from '@causeway/base/address/address';
import { nextSequence, put, type Decision, type KnownSite, type Moment } from './decision.ts';
import { keys } from './keys.ts';
import type { Write } from './ledger.ts';
import { rest, restingOf } from './release.ts';
import type { ClusterRecord, Demand, HeldAddress, Owner } from './records.ts';
import { Refusal } from './refusal.ts';
import {
  describeOwner,
  heldAnswer,
  ownerOf,
  type ReserveAnswer,
  type ReserveRequest,
} from './reservation.ts';
import type { Kept } from './site-view.ts';

/**
 * A reservation while the site recovers from a restored backup. The ledger doesn't know what happened
 * after the backup was made, so that nobody gets anything from it: a cluster says which addresses its
 * owners use (a claim), and that is believed unless another cluster is known to hold one. About its own
 * owners a cluster knows better than the ledger.
 */
export function claimFor(
  request: ReserveRequest,
  site: KnownSite,
  cluster: Kept<ClusterRecord>,
  moment: Moment,
): Decision<ReserveAnswer> {
  const { demand } = request;
  if (demand.claim !== true || demand.addresses.length === 0) {
    throw recovering(site, 'Nobody gets an address until then but who claims the one it uses.');
  }
  const owned = site.view.ownedBy(cluster.record.epoch, demand.uid).map(({ record }) => record);
  const missing = demand.addresses.filter((name) => owned.every(({ address }) => address !== name));
  if (missing.length === 0) return { kind: 'answer', answer: heldAnswer(request, owned) };
  if (missing.some((address) => moment.busy.has(keys.address(request.site, address)))) {
    return { kind: 'busy' };
  }
  const after = nextSequence(cluster);
  const fence = fenceOf(demand, owned) ?? after.sequence;
  const owner = ownerOf(demand, fence, moment.now);
  const held = missing.map((address) => claimed(address, owner, site, after, demand));
  // It uses others of these families now: who has the old ones is not known.
  const taken = new Set(missing.map(familyOf));
  const left = owned.filter(({ address }) => taken.has(familyOf(address)));
  const stays = owned.filter(({ address }) => !taken.has(familyOf(address)));
  const writes: Write[] = [
    put(cluster.key, after),
    ...held.map((record) => put(keys.address(request.site, record.address), record)),
    ...left.map((record) => given(record, demand.uid, site, after, moment.now)),
  ];
  return {
    kind: 'change',
    reads: [site.key, ...writes.map(({ key }) => key)],
    writes,
    audit: {
      action: 'claim',
      site: request.site,
      cluster: request.cluster,
      addresses: held.map(({ address }) => address),
      owner: describeOwner(demand),
      reason: request.reason,
    },
    answer: heldAnswer(request, [...stays, ...held]),
  };
}

function fenceOf({ uid }: Demand, owned: readonly HeldAddress[]): number | undefined {
  return owned.flatMap(({ owners }) => owners).find((owner) => owner.uid === uid)?.fence;
}

/** Drained or not, and for whatever purpose: in use is in use. */
function claimed(
  address: Address,
  owner: Owner,
  site: KnownSite,
  { name, epoch }: ClusterRecord,
  { sharingKey }: Demand,
): HeldAddress {
  const pool = site.view.poolOf(address)?.spec.name;
  if (pool === undefined) {
    throw new Refusal('invalid', 'address-outside', `${address} is in no pool of the site`, {
      hint: 'Give it to a pool before the recovery ends, or it may be given out while it is in use.',
    });
  }
  const record = site.view.addresses.get(address)?.record;
  const isHeld = record?.state === 'held' && site.view.restOf(address) === undefined;
  if (isHeld && record.epoch !== epoch) {
    throw recovering(site, `Another cluster is known to hold ${address}.`);
  }
  const sharers = isHeld ? sharersWith(record, owner, sharingKey) : [];
  const owners = [...sharers, owner];
  return { state: 'held', address, pool, cluster: name, epoch, owners, sharingKey };
}

/** Of its own cluster's owners the others stay that may share it; one that may not has gone since. */
function sharersWith(
  held: HeldAddress,
  { ports = [] }: Owner,
  sharingKey: string | undefined,
): Owner[] {
  if (sharingKey === undefined || held.sharingKey !== sharingKey) return [];
  return held.owners.filter((other) => !other.ports?.some((port) => ports.includes(port)));
}

/** What an owner no longer uses rests as long as what nobody saw withdrawn. */
function given(
  held: HeldAddress,
  uid: string,
  site: KnownSite,
  cluster: ClusterRecord,
  now: number,
): Write {
  const key = keys.address(site.record.name, held.address);
  const others = held.owners.filter((owner) => owner.uid !== uid);
  if (others.length > 0) return put(key, { ...held, owners: others });
  return rest(key, restingOf(held, cluster.id, now + site.record.unconfirmedQuarantineMs), now);
}

function recovering({ record }: KnownSite, what: string): Refusal {
  const message = `site ${record.name} is recovering from a backup. ${what}`;
  return new Refusal('unavailable', 'recovering', message, {
    hint: 'An operator ends the recovery with "causeway ipam sites resume", once all clusters have claimed what they use.',
  });
}
