import { familyOf, type Family } from '@causeway/base/address/address';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import { families } from './pool.ts';
import type { ClusterRecord } from './records.ts';
import type { SiteView } from './site-view.ts';
import type { View } from './view.ts';

export const usageStates = ['total', 'held', 'quarantined', 'drained', 'free', 'outside'] as const;

/**
 * Number of addresses by state: `held`; `quarantined`, freed and not yet free for others; `drained`, not held
 * and not assigned; `free`. Not part of the total: `outside`, held since before a change of the pool excluded
 * them.
 */
export type PoolUsage = Readonly<Record<(typeof usageStates)[number], number>>;

export interface FamilyUsage {
  readonly pool: string;
  readonly family: Family;
  readonly usage: PoolUsage;
}

const noCounts = { held: 0, quarantined: 0, outside: 0 };

/** Usage of the pools of a site, for each family in which a pool has addresses. */
export function usageOf(site: SiteView, now: number): FamilyUsage[] {
  const taken = new Map(
    site.pools.map(({ spec }) => [spec.name, { 4: { ...noCounts }, 6: { ...noCounts } }]),
  );
  for (const { record } of site.addresses.values()) {
    const pool = site.poolOf(record.address);
    const until = site.restOf(record.address);
    const counts = taken.get(pool?.spec.name ?? record.pool)?.[familyOf(record.address)];
    if (counts === undefined || (until !== undefined && until <= now)) continue;
    if (pool === undefined) counts.outside += until === undefined ? 1 : 0;
    else if (until === undefined) counts.held += 1;
    else counts.quarantined += 1;
  }
  return site.pools.flatMap(({ spec, sets }) =>
    families
      .filter((family) => sets[family].size > 0n || taken.get(spec.name)?.[family].outside)
      .map((family): FamilyUsage => {
        const counts = taken.get(spec.name)?.[family] ?? noCounts;
        // A /64 has more addresses than a number holds exactly.
        const total = Number(sets[family].size);
        const left = total - counts.held - counts.quarantined;
        const rest = spec.drained ? { drained: left, free: 0 } : { drained: 0, free: left };
        return { pool: spec.name, family, usage: { total, ...counts, ...rest } };
      }),
  );
}

export function addUp(usages: readonly PoolUsage[]): PoolUsage {
  const sum = (state: keyof PoolUsage) => usages.reduce((total, each) => total + each[state], 0);
  return {
    total: sum('total'),
    held: sum('held'),
    quarantined: sum('quarantined'),
    drained: sum('drained'),
    free: sum('free'),
    outside: sum('outside'),
  };
}

export type ClusterHealth = 'healthy' | 'lost' | 'unknown';

/** `lost`: its heartbeats have stopped; it keeps what it holds. `unknown`: it never sent one. */
export function healthOf(
  site: SiteView,
  cluster: ClusterRecord,
  now: number,
): {
  health: ClusterHealth;
  lastHeartbeat: number | undefined;
  withdrawsAfterMs?: number | undefined;
} {
  const beat = site.beats.get(cluster.name)?.record;
  if (beat === undefined || beat.id !== cluster.id) {
    return { health: 'unknown', lastHeartbeat: undefined };
  }
  const lostAfterMs = site.site?.record.lostAfterMs ?? Number.POSITIVE_INFINITY;
  const { at: lastHeartbeat, withdrawsAfterMs } = beat;
  const health = now - lastHeartbeat > lostAfterMs ? 'lost' : 'healthy';
  return { health, lastHeartbeat, withdrawsAfterMs };
}

const addresses: MetricDefinition<'site' | 'pool' | 'family' | 'state'> = {
  kind: 'gauge',
  name: 'causeway_ipam_addresses',
  help: 'Addresses of a pool by family (4, 6) and state: total, held, quarantined, drained, free; not part of the total: outside, held since before a change of the pool excluded them.',
  labels: ['site', 'pool', 'family', 'state'],
};
const clusters: MetricDefinition<'site' | 'health'> = {
  kind: 'gauge',
  name: 'causeway_ipam_clusters',
  help: 'Clusters of a site by health: healthy, lost (no heartbeat; keeps its addresses), unknown.',
  labels: ['site', 'health'],
};
const waiting: MetricDefinition<'site'> = {
  kind: 'gauge',
  name: 'causeway_ipam_waiting_requests',
  help: 'Requests that wait for an address.',
  labels: ['site'],
};

export const usageMetricDefinitions = [addresses, clusters, waiting];

/** Returns a function that sets the gauges from the view. */
export function usageGauges(metrics: Metrics): (view: View, now: number) => void {
  const addressGauge = metrics.gauge(addresses);
  const clusterGauge = metrics.gauge(clusters);
  const waitingGauge = metrics.gauge(waiting);
  let shown = new Map<string, { site: string; pool: string; family: string }>();
  return (view, now) => {
    const seen: typeof shown = new Map();
    for (const site of view.sites) {
      for (const { pool, family, usage } of usageOf(site, now)) {
        const labels = { site: site.name, pool, family: String(family) };
        seen.set(Object.values(labels).join('/'), labels);
        for (const state of usageStates) addressGauge.set({ ...labels, state }, usage[state]);
      }
      const health = { healthy: 0, lost: 0, unknown: 0 };
      for (const { record } of site.clusters.values())
        health[healthOf(site, record, now).health] += 1;
      for (const [name, count] of Object.entries(health)) {
        clusterGauge.set({ site: site.name, health: name }, count);
      }
      waitingGauge.set({ site: site.name }, site.waiters.size);
    }
    for (const [name, labels] of shown) {
      if (seen.has(name)) continue;
      for (const state of usageStates) addressGauge.remove({ ...labels, state });
    }
    shown = seen;
  };
}
