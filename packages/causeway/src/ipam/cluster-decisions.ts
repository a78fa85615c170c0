import type { Address, Family } from '@causeway/base/address/address';
import {
  deciding,
  findCluster,
  findSite,
  put,
  remove,
  type Decide,
  type Decision,
  type KnownSite,
} from './decision.ts';
import { keys } from './keys.ts';
import type { Write } from './ledger.ts';
import type { ClusterRecord, CredentialRecord, HeldAddress, TombstoneRecord } from './records.ts';
import { refuseIfMoved, type ReserveAnswer, type Reservation } from './reservation.ts';
import { reserveFor } from './reserve.ts';
import type { Kept, SiteView } from './site-view.ts';
import type { View } from './view.ts';

interface OnCluster {
  readonly site: string;
  readonly cluster: string;
  readonly reason?: string | undefined;
}

/** The UID of the owner of a cluster's control plane address. */
export const controlPlaneUid = 'control-plane';

export interface CreateClusterRequest extends OnCluster {
  /** ID of the new cluster: used only if no cluster of this name exists. */
  readonly id: string;
  readonly epoch: string;
  readonly quota?: number | undefined;
  readonly selfWithdrawal?: ClusterRecord['selfWithdrawal'];
  readonly imported?: boolean | undefined;
  readonly controlPlane:
    | {
        readonly families: readonly Family[];
        readonly addresses: readonly Address[];
        readonly pool?: string | undefined;
        /** The addresses are in use already. */
        readonly inUse?: boolean | undefined;
      }
    | undefined;
  /** The hash of the credential in the answer. */
  readonly credential: { readonly id: string; readonly hash: string };
}

export interface CreateClusterAnswer {
  readonly cluster: ClusterRecord;
  readonly controlPlane: Reservation | undefined;
}

/**
 * Creates the cluster with its control plane address and first credential. On repetition it returns the same
 * address and a new credential.
 */
export function createCluster(request: CreateClusterRequest): Decide<CreateClusterAnswer> {
  return (view, moment) =>
    deciding(() => {
      const site = findSite(view, request.site);
      refuseIfMoved(site);
      const known = site.view.clusters.get(request.cluster);
      const cluster = known ?? newCluster(request, site.view, moment.now);
      const address = reserveControlPlane(request, site, cluster, moment);
      if (address.kind === 'busy' || address.kind === 'refuse') return address;
      const credential = firstCredential(request, cluster.record, moment.now);
      const writes: Write[] = [
        put(keys.credential(credential.id), credential),
        ...unusedFirstCredentials(view, cluster.record)
          .filter(({ record }) => record.id !== credential.id)
          .map(({ key }) => remove(key)),
        ...(address.kind === 'change' ? address.writes : []),
      ];
      if (address.kind === 'answer' && known === undefined) {
        writes.push(put(cluster.key, cluster.record));
      }
      const held = address.answer?.state === 'held' ? address.answer.reservation : undefined;
      return {
        kind: 'change',
        reads: [
          site.key,
          cluster.key,
          ...writes.map(({ key }) => key),
          ...(address.kind === 'change' ? address.reads : []),
        ],
        writes,
        audit: {
          action: 'create-cluster',
          site: request.site,
          cluster: request.cluster,
          addresses: held?.addresses.map((each) => each.address),
          reason: request.reason,
          detail: { credential: credential.id, existed: known !== undefined },
        },
        answer: { cluster: cluster.record, controlPlane: held },
      };
    });
}

function newCluster(
  request: CreateClusterRequest,
  view: SiteView,
  now: number,
): Kept<ClusterRecord> {
  const { site, cluster: name, id, epoch, quota, selfWithdrawal, imported } = request;
  const settings = { quota, selfWithdrawal, imported };
  // Starts at the current time instead of 0, and above the removed cluster's sequence: a fencing token of an
  // earlier cluster of this name is never used again.
  const earlier = [...view.tombstones.values()]
    .filter(({ record }) => record.cluster === name)
    .map(({ record }) => record.sequence + 1);
  const sequence = Math.max(now, ...earlier);
  const record = { site, name, id, epoch, sequence, ...settings, createdAt: now };
  return { key: keys.cluster(site, name), revision: 0, record };
}

function reserveControlPlane(
  request: CreateClusterRequest,
  site: KnownSite,
  cluster: Kept<ClusterRecord>,
  moment: Parameters<typeof reserveFor>[3],
): Decision<ReserveAnswer | undefined> {
  if (request.controlPlane === undefined) return { kind: 'answer', answer: undefined };
  const { families, addresses, pool, inUse } = request.controlPlane;
  const demand = {
    uid: controlPlaneUid,
    purpose: 'control-plane' as const,
    families: [...families],
    addresses: [...addresses],
    pool,
    inUse,
  };
  const { site: siteName, cluster: name, reason } = request;
  return reserveFor({ site: siteName, cluster: name, demand, reason }, site, cluster, moment);
}

function firstCredential(
  request: CreateClusterRequest,
  cluster: ClusterRecord,
  now: number,
): CredentialRecord {
  return {
    ...request.credential,
    kind: 'token',
    role: 'cluster',
    site: request.site,
    cluster: request.cluster,
    clusterId: cluster.id,
    note: 'first',
    createdAt: now,
    first: 'unused',
  };
}

/** The answer with a first credential may have been lost. An unused credential can be removed safely. */
function unusedFirstCredentials(view: View, cluster: ClusterRecord): Kept<CredentialRecord>[] {
  return [...view.credentials]
    .filter(({ record }) => record.clusterId === cluster.id && record.first === 'unused')
    .slice(0, 8);
}

export function configureCluster(
  request: OnCluster & {
    /** Null removes the setting. */
    readonly quota?: number | null | undefined;
    readonly selfWithdrawal?: ClusterRecord['selfWithdrawal'] | null;
  },
): Decide<ClusterRecord> {
  return (view) =>
    deciding(() => {
      const site = findSite(view, request.site);
      const cluster = findCluster(site.view, request.cluster);
      const { quota, selfWithdrawal } = request;
      const after: ClusterRecord = {
        ...cluster.record,
        ...(quota === undefined ? {} : { quota: quota ?? undefined }),
        ...(selfWithdrawal === undefined ? {} : { selfWithdrawal: selfWithdrawal ?? undefined }),
      };
      return {
        kind: 'change',
        reads: [cluster.key],
        writes: [put(cluster.key, after)],
        audit: {
          action: 'configure-cluster',
          site: request.site,
          cluster: request.cluster,
          reason: request.reason,
          detail: { quota, selfWithdrawal },
        },
        answer: after,
      };
    });
}

export interface VoidedAnswer {
  /** Addresses that the cluster held. They are in quarantine now. */
  readonly addresses: readonly Address[];
}

/** Removes the cluster and frees all its addresses with a single tombstone. */
export function removeCluster(
  request: OnCluster & { readonly withdrawn: boolean },
): Decide<VoidedAnswer> {
  return (view, { now }) =>
    deciding(() => {
      const site = findSite(view, request.site);
      refuseIfMoved(site);
      const cluster = site.view.clusters.get(request.cluster);
      if (cluster === undefined) return { kind: 'answer', answer: { addresses: [] } };
      const tombstone = tombstoneOf(site, cluster.record, request.withdrawn, now);
      const beat = keys.beat(request.site, request.cluster);
      return voiding(request, site, cluster, 'remove-cluster', [
        remove(cluster.key),
        ...(site.view.beats.has(request.cluster) ? [remove(beat)] : []),
        tombstone,
      ]);
    });
}

/** Takes all addresses from a lost cluster, which keeps its name and credentials. */
export function reclaimCluster(
  request: OnCluster & {
    readonly epoch: string;
    readonly withdrawn: boolean;
    /** The control plane keeps its address, in the new epoch. */
    readonly keepsControlPlane?: boolean | undefined;
    /** Applies only if no heartbeat came after the one at this time: compared in the transaction. */
    readonly unlessBeatSince?: number | undefined;
  },
): Decide<VoidedAnswer> {
  return (view, { now }) =>
    deciding(() => {
      const site = findSite(view, request.site);
      refuseIfMoved(site);
      const cluster = findCluster(site.view, request.cluster);
      const beat = site.view.beats.get(request.cluster);
      const { unlessBeatSince } = request;
      if (unlessBeatSince !== undefined && beat?.record.at !== unlessBeatSince) {
        return { kind: 'answer', answer: { addresses: [] } };
      }
      const after = {
        ...cluster.record,
        epoch: request.epoch,
        sequence: cluster.record.sequence + 1,
      };
      const kept =
        request.keepsControlPlane === true ? controlPlaneOf(site.view, cluster.record) : [];
      const writes = [
        ...kept.map(({ key, record }) => put(key, { ...record, epoch: request.epoch })),
        put(cluster.key, after),
        tombstoneOf(site, cluster.record, request.withdrawn, now),
      ];
      const decision = voiding(request, site, cluster, 'reclaim-cluster', writes, kept);
      const beatKey = keys.beat(request.site, request.cluster);
      if (decision.kind !== 'change' || unlessBeatSince === undefined) return decision;
      return { ...decision, reads: [...decision.reads, beatKey] };
    });
}

/** Addresses of the cluster's control plane, without other owners that share them. */
function controlPlaneOf(site: SiteView, { epoch }: ClusterRecord): Kept<HeldAddress>[] {
  return [...site.heldBy(epoch).values()].flatMap(({ record, ...where }) => {
    const owners = record.owners.filter(({ purpose }) => purpose === 'control-plane');
    return owners.length === 0 ? [] : [{ ...where, record: { ...record, owners } }];
  });
}

function tombstoneOf(
  site: KnownSite,
  cluster: ClusterRecord,
  withdrawn: boolean,
  now: number,
): Write {
  const { quarantineMs, unconfirmedQuarantineMs } = site.record;
  const record: TombstoneRecord = {
    cluster: cluster.name,
    id: cluster.id,
    epoch: cluster.epoch,
    sequence: cluster.sequence,
    at: now,
    until: now + (withdrawn ? quarantineMs : unconfirmedQuarantineMs),
  };
  return put(keys.tombstone(site.record.name, cluster.name, cluster.epoch), record);
}

function voiding(
  request: OnCluster,
  site: KnownSite,
  cluster: Kept<ClusterRecord>,
  action: string,
  writes: readonly Write[],
  kept: readonly Kept<HeldAddress>[] = [],
): Decision<VoidedAnswer> {
  const stays = new Set(kept.map(({ record }) => record.address));
  const held = [...site.view.heldBy(cluster.record.epoch).keys()];
  const addresses = held.filter((address) => !stays.has(address));
  return {
    kind: 'change',
    reads: [site.key, cluster.key, ...kept.map(({ key }) => key)],
    writes,
    audit: {
      action,
      site: request.site,
      cluster: request.cluster,
      addresses,
      reason: request.reason,
    },
    answer: { addresses },
  };
}
