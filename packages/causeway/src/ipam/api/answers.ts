import { familyOf, type Address } from '@causeway/base/address/address';
import type { Grant } from '../credential.ts';
import { findSite } from '../decision.ts';
import type { ClusterRecord, PoolSpec } from '../records.ts';
import { reservationOf, type Reservation } from '../reservation.ts';
import type { SiteView } from '../site-view.ts';
import { addUp, healthOf, usageOf } from '../usage.ts';
import type { View } from '../view.ts';
import type { AnswerOf } from './operations.ts';

/** Converts the content of the view to answers of the API. */

export function siteAnswer(site: SiteView): AnswerOf<'setSite'> {
  const record = site.site?.record;
  if (record === undefined) throw new TypeError('a site without a record is not shown');
  return {
    ...record,
    pools: record.pools.map(({ name }) => name),
    clusters: site.clusters.size,
    waiting: site.waiters.size,
  };
}

export function poolAnswer(site: SiteView, spec: PoolSpec, now: number): AnswerOf<'setPool'> {
  const families = usageOf(site, now)
    .filter(({ pool }) => pool === spec.name)
    .map(({ family, usage }) => ({ family, ...usage }));
  return { ...spec, usage: { ...addUp(families), families } };
}

export function clusterAnswer(
  site: SiteView,
  record: ClusterRecord,
  now: number,
): AnswerOf<'getCluster'> {
  const { name, epoch, quota, selfWithdrawal } = record;
  return {
    site: site.name,
    cluster: name,
    epoch,
    quota: quota ?? site.site?.record.defaultQuota,
    selfWithdrawal,
    addresses: site.heldBy(epoch).size,
    ...healthOf(site, record, now),
  };
}

/** All reservations of a cluster, by owner. */
export function reservationsOf(site: SiteView, cluster: ClusterRecord): Reservation[] {
  const held = [...site.heldBy(cluster.epoch).values()].map(({ record }) => record);
  const owners = new Set(held.flatMap((record) => record.owners.map(({ uid }) => uid)));
  return [...owners].sort().map((uid) =>
    reservationOf(
      site.name,
      cluster.name,
      uid,
      held.filter((record) => record.owners.some((owner) => owner.uid === uid)),
    ),
  );
}

export function addressAnswer(
  view: View,
  siteName: string,
  address: Address,
  { credential }: Grant,
  now: number,
): AnswerOf<'whoHas'> {
  const site = findSite(view, siteName).view;
  const pool = site.pools.find(({ sets }) => sets[familyOf(address)].has(address));
  const record = site.addresses.get(address)?.record;
  const until = site.restOf(address);
  const shown = { address, pool: record?.pool ?? pool?.spec.name };
  if (record === undefined || (until !== undefined && until <= now)) {
    if (pool === undefined) return { ...shown, state: 'outside' };
    return { ...shown, state: pool.spec.drained ? 'drained' : 'free' };
  }
  // Other clusters see only that the address is taken: the names of a cluster's Services are private to it.
  const mayKnow = credential?.role !== 'cluster' || credential.cluster === record.cluster;
  const cluster = mayKnow ? { cluster: record.cluster } : {};
  if (record.state === 'resting' || until !== undefined) {
    return { ...shown, ...cluster, state: 'resting', until };
  }
  return { ...shown, ...cluster, ...(mayKnow ? { owners: record.owners } : {}), state: 'held' };
}
