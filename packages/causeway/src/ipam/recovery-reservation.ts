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
 * A reservation while the site recovers from a restored backup. The ledger doesn't know what happened after
 * the backup, so it assigns no address. A cluster confirms the addresses that its owners use. The
 * ledger accepts them unless another cluster holds one of them. For its own owners, the cluster is right and
 * the ledger is not.
 */
export function recoverReservation(
  request: ReserveRequest,
  site: KnownSite,
  cluster: Kept<ClusterRecord>,
  moment: Moment,
): Decision<ReserveAnswer> {
  const { demand } = request;
  if (demand.inUse !== true || demand.addresses.length === 0) {
    throw recovering(site, 'Until then an owner gets only an address that it uses.');
  }
  const owned = site.view.ownedBy(cluster.record.epoch, demand.uid).map(({ record }) => record);
  const missing = demand.addresses.filter((name) => owned.every(({ address }) => address !== name));
  if (missing.length === 0) return { kind: 'answer', answer: heldAnswer(request, owned) };
  if (missing.some((address) => moment.busy.has(keys.address(request.site, address)))) {
    return { kind: 'busy' };
  }
  const after = nextSequence(cluster);
  const fencingToken = fencingTokenOf(demand, owned) ?? after.sequence;
  const owner = ownerOf(demand, fencingToken, moment.now);
  const held = missing.map((address) => confirmed(address, owner, site, after, demand));
  // The owner uses other addresses of these families now: the current owner of the old ones is unknown.
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
      action: 'confirm',
      site: request.site,
      cluster: request.cluster,
      addresses: held.map(({ address }) => address),
      owner: describeOwner(demand),
      reason: request.reason,
    },
    answer: heldAnswer(request, [...stays, ...held]),
  };
}

function fencingTokenOf({ uid }: Demand, owned: readonly HeldAddress[]): number | undefined {
  return owned.flatMap(({ owners }) => owners).find((owner) => owner.uid === uid)?.fencingToken;
}

/** Whether the pool is drained and for which purpose doesn't matter: the address is in use. */
function confirmed(
  address: Address,
  owner: Owner,
  site: KnownSite,
  { name, epoch }: ClusterRecord,
  { sharingKey }: Demand,
): HeldAddress {
  const pool = site.view.poolOf(address)?.spec.name;
  if (pool === undefined) {
    throw new Refusal('invalid', 'address-outside', `${address} is in no pool of the site`, {
      hint: 'Add it to a pool before the recovery ends, or it may be assigned while it is in use.',
    });
  }
  const record = site.view.addresses.get(address)?.record;
  const isHeld = record?.state === 'held' && site.view.restOf(address) === undefined;
  if (isHeld && record.epoch !== epoch) {
    throw recovering(site, `Another cluster holds ${address}.`);
  }
  const sharers = isHeld ? sharersWith(record, owner, sharingKey) : [];
  const owners = [...sharers, owner];
  return { state: 'held', address, pool, cluster: name, epoch, owners, sharingKey };
}

/**
 * Other owners of the same cluster stay if they can share the address; an owner that can't no longer exists.
 */
function sharersWith(
  held: HeldAddress,
  { ports = [] }: Owner,
  sharingKey: string | undefined,
): Owner[] {
  if (sharingKey === undefined || held.sharingKey !== sharingKey) return [];
  return held.owners.filter((other) => !other.ports?.some((port) => ports.includes(port)));
}

/** An address that its owner no longer uses gets the quarantine for unconfirmed withdrawals. */
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
    hint: 'An operator ends the recovery with "causeway ipam sites resume", after all clusters have confirmed the addresses that they use.',
  });
}
