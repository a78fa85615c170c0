import { familyOf, type Family } from '@causeway/base/address/address';
import { eligiblePools } from './pool.ts';
import type { PoolView } from './pool-view.ts';
import type { Demand, WaiterRecord } from './records.ts';
import type { Kept, SiteView } from './site-view.ts';

/** How much longer a waiter keeps its place than the client said, so that the client can return. */
export const placeKeptMs = 30_000;

/** Whether the waiter is still valid: its time is not over, and its cluster is the same. */
export function isWaiting(site: SiteView, waiter: WaiterRecord, now: number): boolean {
  return waiter.expires > now && site.clusters.get(waiter.cluster)?.record.epoch === waiter.epoch;
}

/** The waiters in order of arrival. */
export function waitersInOrder(site: SiteView, now: number): Kept<WaiterRecord>[] {
  return [...site.waiters.values()]
    .filter(({ record }) => isWaiting(site, record, now))
    .sort((one, other) => one.record.place - other.record.place);
}

/** The part of the pools that is left after all earlier waiters are served. */
export interface QueueShares {
  /** Number of addresses of the pool that no earlier waiter needs. */
  readonly left: (pool: PoolView, family: Family) => number;
  /** Whether an earlier waiter waits for addresses of the pool. */
  readonly isWanted: (pool: PoolView) => boolean;
}

const nobodyWaits: QueueShares = { left: () => Number.POSITIVE_INFINITY, isWanted: () => false };

/**
 * Simulates serving the queue, in its order and pool by pool. A waiter takes from the best eligible pool with
 * addresses left, in every family that it lacks or in none. A request without a place comes last.
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
