import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import type { Moment } from './decision.ts';
import { keys } from './keys.ts';
import { hashedStart } from './occupancy.ts';
import { eligiblePools } from './pool.ts';
import { sharesOfQueue } from './queue.ts';
import type {
  AddressRecord,
  ClusterRecord,
  Demand,
  HeldAddress,
  RestingAddress,
} from './records.ts';
import { Refusal } from './refusal.ts';
import { restingOfVoided } from './release.ts';
import type { Kept, SiteView } from './site-view.ts';

/** Input for choosing an owner's address. */
export interface Choice {
  readonly site: SiteView;
  readonly cluster: Kept<ClusterRecord>;
  readonly demand: Demand;
  /** The demand's place in the queue; undefined if it doesn't wait. */
  readonly place: number | undefined;
  readonly moment: Moment;
}

/** An address for the owner: its own, or an address that it joins or takes over. */
export type Pick =
  | {
      readonly kind: 'fresh';
      readonly address: Address;
      readonly pool: string;
      /** Others wait for addresses of that pool, and this one is left after they are served. */
      readonly passesQueue: boolean;
    }
  | { readonly kind: 'join'; readonly held: HeldAddress }
  | { readonly kind: 'adopt'; readonly held: HeldAddress };

/** Undefined: no address is available. `busy`: it depends on running transactions. */
export type PickResult = Pick | 'busy' | undefined;

/** Chooses in this order: the requested address, one already shared, the previous one, a new one. */
export function pickAddress(choice: Choice, family: Family): PickResult {
  const adopted = pickImported(choice, family);
  if (adopted !== undefined) return adopted;
  const named = choice.demand.addresses.find((address) => familyOf(address) === family);
  if (named !== undefined) return pickNamed(choice, named);
  const shared = pickShared(choice, family);
  if (shared !== undefined) return shared;
  return pickKept(choice, family) ?? pickFresh(choice, family);
}

/** An imported owner has a name but no UID: the first owner with that name takes over its address. */
function pickImported({ site, cluster, demand }: Choice, family: Family): Pick | undefined {
  if (cluster.record.imported !== true || demand.name === undefined) return undefined;
  for (const { record } of site.heldBy(cluster.record.epoch).values()) {
    const matches = record.owners.some(
      (owner) =>
        isImported(owner.uid) && owner.name === demand.name && owner.namespace === demand.namespace,
    );
    if (matches && familyOf(record.address) === family) return { kind: 'adopt', held: record };
  }
  return undefined;
}

export const importedPrefix = 'imported:';
export const isImported = (uid: string): boolean => uid.startsWith(importedPrefix);

function pickNamed(choice: Choice, address: Address): PickResult {
  const { site, cluster, demand, moment } = choice;
  const pool = eligiblePools(site.pools, demand).find(({ sets }) =>
    sets[familyOf(address)].has(address),
  );
  if (pool === undefined) {
    throw new Refusal(
      'invalid',
      'address-outside',
      `${address} is in no pool open to this request`,
      {
        hint: 'It may be excluded, a gateway, in a drained pool, or in a pool for another purpose.',
      },
    );
  }
  const record = site.addresses.get(address)?.record;
  const rest = site.restOf(address);
  if (record?.state === 'held' && rest === undefined) {
    if (record.epoch === cluster.record.epoch && canJoin(record, demand)) {
      return { kind: 'join', held: record };
    }
    throw new Refusal('conflict', 'address-in-use', `${address} is in use`, {
      hint: 'Owners of one cluster share an address with the same sharing key and different ports.',
    });
  }
  if (moment.busy.has(keys.address(site.name, address))) return 'busy';
  const fresh = { kind: 'fresh', address, pool: pool.spec.name } as const;
  if (mayReturnTo(record, choice)) return { ...fresh, passesQueue: false };
  if (rest !== undefined && rest > moment.now) {
    throw new Refusal(
      'conflict',
      'address-resting',
      `${address} is in quarantine after its last use`,
      {
        hint: `It is free for others from ${new Date(rest).toISOString()} on.`,
      },
    );
  }
  const { left, isWanted } = sharesOfQueue(site, choice.place, moment.now);
  if (left(pool, familyOf(address)) <= 0) return undefined;
  if (isWanted(pool) && moment.busy.has(keys.queue(site.name))) return 'busy';
  return { ...fresh, passesQueue: isWanted(pool) };
}

/**
 * An address in quarantine goes back early to its previous cluster, unless it is kept for another of its
 * Services. An address that was reclaimed from a cluster goes back to its previous Service.
 */
function mayReturnTo(
  record: AddressRecord | undefined,
  { site, cluster, demand }: Choice,
): boolean {
  const resting = record === undefined ? undefined : asResting(record, site);
  if (resting === undefined) return false;
  const { id } = cluster.record;
  const { keptFor, returnsTo } = resting;
  const isFor = (service: { readonly namespace: string; readonly name: string }) =>
    service.name === demand.name && service.namespace === demand.namespace;
  if (returnsTo !== undefined) return returnsTo.id === id && isFor(returnsTo);
  return resting.id === id && (keptFor === undefined || isFor(keptFor));
}

/** Addresses of a voided epoch are in quarantine, whether or not they have been swept. */
function asResting(record: AddressRecord, { tombstones }: SiteView): RestingAddress | undefined {
  if (record.state === 'resting') return record;
  const tombstone = tombstones.get(record.epoch)?.record;
  return tombstone === undefined ? undefined : restingOfVoided(record, tombstone);
}

function pickShared({ site, cluster, demand }: Choice, family: Family): Pick | undefined {
  if (demand.sharingKey === undefined) return undefined;
  for (const { record } of site.heldBy(cluster.record.epoch).values()) {
    if (familyOf(record.address) === family && canJoin(record, demand)) {
      return { kind: 'join', held: record };
    }
  }
  return undefined;
}

function canJoin(held: HeldAddress, demand: Demand): boolean {
  if (demand.sharingKey === undefined || held.sharingKey !== demand.sharingKey) return false;
  if (demand.pool !== undefined && demand.pool !== held.pool) return false;
  const ports = new Set(demand.ports);
  return held.owners.every((owner) => owner.ports?.some((port) => ports.has(port)) !== true);
}

/** The previous address of a Service of this name, while it is kept for it. */
function pickKept(choice: Choice, family: Family): PickResult {
  const { site, cluster, demand, moment } = choice;
  if (demand.namespace === undefined || demand.name === undefined) return undefined;
  const kept = site
    .keptFor(cluster.record.id, demand.namespace, demand.name)
    .filter((address) => familyOf(address) === family);
  if (kept.length === 0) return undefined;
  const pools = eligiblePools(site.pools, demand);
  for (const address of kept) {
    const pool = pools.find(({ sets }) => sets[family].has(address));
    if (pool === undefined) continue;
    if (moment.busy.has(keys.address(site.name, address))) return 'busy';
    return { kind: 'fresh', address, pool: pool.spec.name, passesQueue: false };
  }
  return undefined;
}

/** The first free address of the pools, best pool first, that the waiters leave. */
function pickFresh(choice: Choice, family: Family): PickResult {
  const { site, cluster, demand, moment } = choice;
  const owner = demand.name === undefined ? demand.uid : `${demand.namespace}/${demand.name}`;
  const start = hashedStart(`${cluster.record.name}/${owner}`);
  const { left, isWanted } = sharesOfQueue(site, choice.place, moment.now);
  let sawBusy = false;
  for (const pool of eligiblePools(site.pools, demand)) {
    if (left(pool, family) <= 0) continue;
    if (isWanted(pool) && moment.busy.has(keys.queue(site.name))) return 'busy';
    for (const address of pool.allocatable(family, start, moment.now, site.restOf)) {
      if (!moment.busy.has(keys.address(site.name, address))) {
        return { kind: 'fresh', address, pool: pool.spec.name, passesQueue: isWanted(pool) };
      }
      sawBusy = true;
    }
  }
  return sawBusy ? 'busy' : undefined;
}
