import { deciding, remove, type Decide, type Decision } from './decision.ts';
import { reclaimCluster, type VoidedAnswer } from './cluster-decisions.ts';
import type { Write } from './ledger.ts';
import type { Demand, WaiterRecord } from './records.ts';
import { rest, restingOfVoided } from './release.ts';
import { Refusal, type RefusalReason } from './refusal.ts';
import { isWaiting, waitersInOrder } from './queue.ts';
import type { ReserveAnswer } from './reservation.ts';
import { reserve } from './reserve.ts';
import type { Kept, SiteView } from './site-view.ts';
import type { View } from './view.ts';

/** Far enough below the ledger's limit on operations in a transaction. */
const sweepSize = 50;

/**
 * Removes obsolete keys: addresses of voided epochs, expired quarantines, waiters that left. It never changes
 * which owner may hold an address. After an interruption the rest is swept later.
 */
export function sweep(siteName: string): Decide<number> {
  return (view, { now }) => {
    const site = view.site(siteName);
    if (site === undefined) return { kind: 'answer', answer: 0 };
    const reads: string[] = [];
    const writes: Write[] = [];
    for (const { write, because } of sweepable(site, now)) {
      writes.push(write);
      reads.push(write.key, ...because);
      if (writes.length === sweepSize) break;
    }
    if (writes.length === 0) return { kind: 'answer', answer: 0 };
    return {
      kind: 'change',
      reads: [...new Set(reads)],
      writes,
      audit: { action: 'sweep', site: siteName, detail: { keys: writes.length } },
      answer: writes.length,
    };
  };
}

interface Sweepable {
  readonly write: Write;
  /** Keys that justify the write, beside the key's own revision. */
  readonly because: readonly string[];
}

function* sweepable(site: SiteView, now: number): Generator<Sweepable> {
  for (const [epoch, tombstone] of site.tombstones) {
    const held = site.heldBy(epoch);
    for (const { key, record } of held.values()) {
      const resting = restingOfVoided(record, tombstone.record);
      yield { write: rest(key, resting, now), because: [tombstone.key] };
    }
    // No address can join a voided epoch: a reservation compares the cluster's key.
    if (held.size === 0) yield { write: remove(tombstone.key), because: [] };
  }
  for (const { key, record } of site.addresses.values()) {
    if (record.state === 'resting' && record.until <= now)
      yield { write: remove(key), because: [] };
  }
  for (const { key, record } of site.waiters.values()) {
    if (!isWaiting(site, record, now)) yield { write: remove(key), because: [] };
  }
  for (const [cluster, { key, record }] of site.beats) {
    if (site.clusters.get(cluster)?.record.id !== record.id) {
      yield { write: remove(key), because: [] };
    }
  }
}

/** Removes credentials that have expired or belong to a removed cluster. */
export function sweepCredentials(): Decide<number> {
  return (view, { now }) => {
    const dead = [...view.credentials].filter(({ record }) => {
      if (record.expiresAt !== undefined && record.expiresAt <= now) return true;
      return record.role === 'cluster' && !clusterLives(view, record);
    });
    const writes = dead.slice(0, sweepSize).map(({ key }) => remove(key));
    if (writes.length === 0) return { kind: 'answer', answer: 0 };
    return {
      kind: 'change',
      reads: writes.map(({ key }) => key),
      writes,
      audit: { action: 'sweep', detail: { credentials: writes.length } },
      answer: writes.length,
    };
  };
}

function clusterLives(
  view: View,
  record: {
    site?: string | undefined;
    cluster?: string | undefined;
    clusterId?: string | undefined;
  },
): boolean {
  const cluster = view.site(record.site ?? '')?.clusters.get(record.cluster ?? '');
  return cluster !== undefined && cluster.record.id === record.clusterId;
}

/**
 * Clusters that promised to stop announcing without contact, and that are past this time and the grace time.
 * A cluster promises with its heartbeats: without a heartbeat there is no promise. The time without contact
 * counts from `servingSince` at the earliest, because no heartbeat could arrive before. A site that is
 * recovering or was moved knows too little to reclaim anything.
 */
export function reclaimable(
  site: SiteView,
  now: number,
  servingSince: number,
): { cluster: string; lastBeat: number }[] {
  if (site.site?.record.suspended !== undefined) return [];
  const due: { cluster: string; lastBeat: number }[] = [];
  for (const [cluster, { record }] of site.clusters) {
    const beat = site.beats.get(cluster)?.record;
    const { selfWithdrawal } = record;
    if (selfWithdrawal === undefined || beat === undefined || beat.id !== record.id) continue;
    // An operator can allow the withdrawal; only the cluster itself can promise it.
    if (beat.withdrawsAfterMs === undefined) continue;
    if (!holdsForServices(site, record.epoch)) continue;
    const expiryMs = Math.max(selfWithdrawal.afterMs, beat.withdrawsAfterMs);
    const lastHeartbeat = Math.max(beat.at, servingSince);
    if (lastHeartbeat + expiryMs + selfWithdrawal.graceMs <= now) {
      due.push({ cluster, lastBeat: beat.at });
    }
  }
  return due;
}

/** The promise does not cover the control plane's address: the provider doesn't announce it. */
function holdsForServices(site: SiteView, epoch: string): boolean {
  return [...site.heldBy(epoch).values()].some(({ record }) =>
    record.owners.some(({ purpose }) => purpose !== 'control-plane'),
  );
}

export function reclaimExpired(
  site: string,
  cluster: string,
  lastBeat: number,
  epoch: string,
): Decide<VoidedAnswer> {
  return reclaimCluster({
    site,
    cluster,
    epoch,
    withdrawn: true,
    keepsControlPlane: true,
    unlessBeatSince: lastBeat,
    reason: `no heartbeat since ${new Date(lastBeat).toISOString()}, withdrawal promised`,
  });
}

/** A waiter that is refused for one of these reasons keeps its place. */
const passingReasons: ReadonlySet<RefusalReason> = new Set([
  'pool-exhausted',
  'recovering',
  'moved',
]);

/** Assigns addresses to the first waiter that can be served. Returns undefined if there is none. */
export function serveQueue(siteName: string): Decide<ReserveAnswer | undefined> {
  return (view, moment, grant) =>
    deciding((): Decision<ReserveAnswer | undefined> => {
      const site = view.site(siteName);
      // If a waiter can't be served, a later waiter with the same demand can't be served either.
      const unservable = new Set<string>();
      for (const waiter of site === undefined ? [] : waitersInOrder(site, moment.now)) {
        const { cluster, demand } = waiter.record;
        if (unservable.has(wants(demand))) continue;
        const request = { site: siteName, cluster, demand, reason: 'served from the queue' };
        const decision = reserve(request)(view, moment, grant);
        if (decision.kind === 'change' || decision.kind === 'busy') return decision;
        if (decision.kind === 'answer') return dropWaiter(siteName, waiter, 'already served');
        if (decision.error instanceof Refusal && passingReasons.has(decision.error.reason)) {
          unservable.add(wants(demand));
          continue;
        }
        return dropWaiter(siteName, waiter, decision.error.message);
      }
      return { kind: 'answer', answer: undefined };
    });
}

const wants = ({ families, pool, poolLabels, purpose }: Demand): string =>
  JSON.stringify([families, pool, poolLabels, purpose]);

function dropWaiter(
  site: string,
  { key, record }: Kept<WaiterRecord>,
  reason: string,
): Decision<undefined> {
  return {
    kind: 'change',
    reads: [key],
    writes: [remove(key)],
    audit: {
      action: 'stop-waiting',
      site,
      cluster: record.cluster,
      owner: record.demand.uid,
      reason,
    },
    answer: undefined,
  };
}
