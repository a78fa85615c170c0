import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import {
  deciding,
  findCluster,
  findSite,
  nextSequence,
  put,
  remove,
  type Decide,
  type KnownSite,
} from './decision.ts';
import { keys } from './keys.ts';
import type { Write } from './ledger.ts';
import type { ClusterRecord, HeldAddress, RestingAddress, TombstoneRecord } from './records.ts';
import { describeOwner, refuseIfMoved, refuseStaleFencingToken } from './reservation.ts';

export interface FreeRequest {
  readonly site: string;
  readonly cluster: string;
  readonly uid: string;
  /** The fencing token of the reservation. Only an operator may omit it. */
  readonly fencingToken: number | undefined;
  /** Whether the withdrawal was confirmed: then the quarantine is shorter. */
  readonly withdrawn: boolean;
  readonly reason?: string | undefined;
}

export interface FreeAnswer {
  readonly freed: readonly Address[];
}

/** Frees the owner's addresses and its place in the queue. Missing ones are not an error. */
export function free(request: FreeRequest): Decide<FreeAnswer> {
  return (view, { now }, { credential }) =>
    deciding(() => {
      if (request.fencingToken === undefined && credential?.role === 'cluster') {
        throw new CausewayError(
          'invalid',
          'a release requires the fencing token of its reservation',
        );
      }
      const site = findSite(view, request.site);
      refuseIfMoved(site);
      if (!site.view.clusters.has(request.cluster))
        return { kind: 'answer', answer: { freed: [] } };
      const cluster = findCluster(site.view, request.cluster);
      const waiterKey = keys.waiter(request.site, request.cluster, request.uid);
      const waits = site.view.waiters.has(waiterKey);
      const owned = site.view
        .ownedBy(cluster.record.epoch, request.uid)
        .map(({ record }) => record);
      if (owned.length === 0 && !waits) return { kind: 'answer', answer: { freed: [] } };
      if (credential?.role === 'cluster') refuseControlPlane(request, owned);
      refuseStaleFencingToken(request, owned);
      const writes: Write[] = owned.map((held) =>
        release(request, held, site, cluster.record, now),
      );
      if (waits) writes.push(remove(waiterKey));
      const owner = owned[0]?.owners.find(({ uid }) => uid === request.uid);
      return {
        kind: 'change',
        reads: [site.key, cluster.key, ...writes.map(({ key }) => key)],
        writes: [put(cluster.key, nextSequence(cluster)), ...writes],
        audit: {
          action: 'free',
          site: request.site,
          cluster: request.cluster,
          addresses: owned.map(({ address }) => address),
          owner: describeOwner(owner ?? request),
          reason: request.reason,
          detail: { withdrawn: request.withdrawn },
        },
        answer: { freed: owned.map(({ address }) => address) },
      };
    });
}

/**
 * The tool that creates the cluster reserves this address: the cluster's own credential, in one of its
 * Secrets, must not release it.
 */
function refuseControlPlane({ uid }: FreeRequest, owned: readonly HeldAddress[]): void {
  const isControlPlane = owned.some(({ owners }) =>
    owners.some((owner) => owner.uid === uid && owner.purpose === 'control-plane'),
  );
  if (!isControlPlane) return;
  throw new CausewayError(
    'forbidden',
    'only an operator can free the address of the control plane',
    {
      hint: 'Use an operator’s credential, or remove the cluster.',
    },
  );
}

/** Removes the owner from one address: other sharing owners keep it, else it goes into quarantine. */
export function release(
  request: Pick<FreeRequest, 'site' | 'uid' | 'withdrawn'>,
  held: HeldAddress,
  site: KnownSite,
  cluster: ClusterRecord,
  now: number,
): Write {
  const key = keys.address(request.site, held.address);
  const others = held.owners.filter(({ uid }) => uid !== request.uid);
  if (others.length > 0) return put(key, { ...held, owners: others });
  const { quarantineMs, unconfirmedQuarantineMs, keepMs } = site.record;
  const keptFor = serviceOf(held);
  const restMs = request.withdrawn ? quarantineMs : unconfirmedQuarantineMs;
  const until = now + Math.max(restMs, keptFor === undefined ? 0 : keepMs);
  return rest(key, { ...restingOf(held, cluster.id, until), keptFor }, now);
}

/** The Service that the address is kept for; undefined if its owner is not a Service. */
function serviceOf({ owners }: HeldAddress): RestingAddress['keptFor'] {
  const { namespace, name } = owners[0] ?? {};
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/** An address without a quarantine needs no key. */
export function rest(key: string, record: RestingAddress, now: number): Write {
  return record.until <= now ? remove(key) : put(key, record);
}

export function restingOf(held: HeldAddress, clusterId: string, until: number): RestingAddress {
  const { address, pool, cluster } = held;
  return { state: 'resting', address, pool, cluster, id: clusterId, until };
}

/** Instead of a cluster's id: the address is kept for no cluster. */
const noCluster = 'voided';

/** Addresses of a voided epoch are in quarantine for all but the previous Service, if its cluster returns. */
export function restingOfVoided(held: HeldAddress, { id, until }: TombstoneRecord): RestingAddress {
  const service = serviceOf(held);
  const resting = restingOf(held, noCluster, until);
  if (id === undefined || service === undefined) return resting;
  return { ...resting, returnsTo: { id, ...service } };
}
