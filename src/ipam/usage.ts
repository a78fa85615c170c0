import type { MetricDefinition, Metrics } from '../runtime/metrics.ts';
import { poolHas } from './pool.ts';
import type { ClusterRecord } from './records.ts';
import type { SiteView } from './site-view.ts';
import type { View } from './view.ts';

export interface PoolUsage {
  readonly total: number;
  readonly held: number;
  /** Freed, and not yet free to others. */
  readonly quarantined: number;
  readonly free: number;
}

/** How full each pool of a site is, by the pool's name. A /64 has more addresses than a number holds exactly. */
export function usageOf(site: SiteView, now: number): Map<string, PoolUsage> {
  const usage = new Map(
    site.pools.map((pool) => {
      const total = Number(pool.sets[4].size + pool.sets[6].size);
      return [pool.spec.name, { total, held: 0, quarantined: 0, free: total }];
    }),
  );
  for (const { record } of site.addresses.values()) {
    const pool = site.pools.find((candidate) => poolHas(candidate, record.address));
    const counts = pool === undefined ? undefined : usage.get(pool.spec.name);
    if (counts === undefined) continue;
    const until = site.restOf(record.address);
    if (until !== undefined && until <= now) continue;
    if (until === undefined) counts.held += 1;
    else counts.quarantined += 1;
    counts.free -= 1;
  }
  return usage;
}

export type ClusterHealth = 'healthy' | 'lost' | 'unknown';

/** `lost`: its heartbeats have stopped; it keeps what it holds. `unknown`: it never sent one. */
export function healthOf(
  site: SiteView,
  cluster: ClusterRecord,
  now: number,
): { health: ClusterHealth; lastHeartbeat: number | undefined } {
  const beat = site.beats.get(cluster.name)?.record;
  if (beat === undefined || beat.id !== cluster.id) {
    return { health: 'unknown', lastHeartbeat: undefined };
  }
  const lostAfterMs = site.site?.record.lostAfterMs ?? Number.POSITIVE_INFINITY;
  return { health: now - beat.at > lostAfterMs ? 'lost' : 'healthy', lastHeartbeat: beat.at };
}

const addresses: MetricDefinition<'site' | 'pool' | 'state'> = {
  kind: 'gauge',
  name: 'causeway_ipam_addresses',
  help: 'Addresses of a pool by state: total, held, quarantined, free.',
  labels: ['site', 'pool', 'state'],
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

const states = ['total', 'held', 'quarantined', 'free'] as const;

/** Sets the gauges from the view; answers with a function that does it again. */
export function usageGauges(metrics: Metrics): (view: View, now: number) => void {
  const addressGauge = metrics.gauge(addresses);
  const clusterGauge = metrics.gauge(clusters);
  const waitingGauge = metrics.gauge(waiting);
  let pools = new Set<string>();
  return (view, now) => {
    const seen = new Set<string>();
    for (const site of view.sites) {
      for (const [pool, usage] of usageOf(site, now)) {
        seen.add(`${site.name}/${pool}`);
        for (const state of states)
          addressGauge.set({ site: site.name, pool, state }, usage[state]);
      }
      const health = { healthy: 0, lost: 0, unknown: 0 };
      for (const { record } of site.clusters.values())
        health[healthOf(site, record, now).health] += 1;
      for (const [name, count] of Object.entries(health)) {
        clusterGauge.set({ site: site.name, health: name }, count);
      }
      waitingGauge.set({ site: site.name }, site.waiters.size);
    }
    for (const gone of pools) {
      if (seen.has(gone)) continue;
      const [site = '', pool = ''] = gone.split('/');
      for (const state of states) addressGauge.remove({ site, pool, state });
    }
    pools = seen;
  };
}
