import { familyOf, type Family } from '@causeway/base/address/address';
import { eligiblePools } from './pool.ts';
import type { PoolView } from './pool-view.ts';
import type { Demand, WaiterRecord } from './records.ts';
import type { Kept, SiteView } from './site-view.ts';

/** A waiter keeps its place so much longer than its client said, for the client to come back. */
export const placeKeptMs = 30_000;

/** Whether the waiter still counts: its time is not over, and its cluster is the same. */
export function isWaiting(site: SiteView, waiter: WaiterRecord, now: number): boolean {
  return waiter.expires > now && site.clusters.get(waiter.cluster)?.record.epoch === waiter.epoch;
}

/** Those who wait, who came first is first. */
export function waitersInOrder(site: SiteView, now: number): Kept<WaiterRecord>[] {
  return [...site.waiters.values()]
    .filter(({ record }) => isWaiting(site, record, now))
    .sort((one, other) => one.record.place - other.record.place);
}

/** What is left of the pools once everybody has been served who has waited longer. */
export interface QueueShares {
  /** How many addresses of the pool are due to nobody ahead. */
  readonly left: (pool: PoolView, family: Family) => number;
  /** Whether somebody ahead waits for addresses of the pool. */
  readonly isWanted: (pool: PoolView) => boolean;
}

const nobodyWaits: QueueShares = { left: () => Number.POSITIVE_INFINITY, isWanted: () => false };

/**
 * Serves the queue in the mind, in its order and pool by pool, as it will be served: a waiter takes
 * from the best pool open to it that has something left, in every family that it lacks or in none. A
 * request without a place comes after all of them.
 */
export function sharesOfQueue(site: SiteView, place: number | undefined, now: number): QueueShares {
  if (site.waiters.size === 0) return nobodyWaits;
  const counts = new Map<string, number>();
  const keyOf = (pool: PoolView, family: Family) => `${pool.spec.name}/${family}`;
  const left = (pool: PoolView, family: Family): number => {
    const key = keyOf(pool, family);
    const known = counts.get(key) ?? pool.countAllocatable(family, now, site.restOf);
    counts.set(key, known);
    return known;
  };
  const wanted = new Set<PoolView>();
  for (const { record } of waitersInOrder(site, now)) {
    if (place !== undefined && record.place >= place) break;
    const pools = eligiblePools(site.pools, record.demand);
    for (const pool of pools) wanted.add(pool);
    const takes = familiesLacking(site, record.epoch, record.demand).map((family) => ({
      family,
      pool: pools.find((pool) => left(pool, family) > 0),
    }));
    if (takes.some(({ pool }) => pool === undefined)) continue;
    for (const { family, pool } of takes) {
      if (pool !== undefined) counts.set(keyOf(pool, family), left(pool, family) - 1);
    }
  }
  return { left, isWanted: (pool) => wanted.has(pool) };
}

function familiesLacking(site: SiteView, epoch: string, { uid, families }: Demand): Family[] {
  const have = new Set(site.ownedBy(epoch, uid).map(({ record }) => familyOf(record.address)));
  return families.filter((family) => !have.has(family));
}
