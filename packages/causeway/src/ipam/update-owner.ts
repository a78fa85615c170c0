import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { deciding, findCluster, findSite, nextSequence, put, type Decide } from './decision.ts';
import { keys } from './keys.ts';
import type { HeldAddress, Owner } from './records.ts';
import { Refusal } from './refusal.ts';
import { release } from './release.ts';
import {
  describeOwner,
  refuseIfMoved,
  reservationOf,
  refuseStaleFencingToken,
  type Reservation,
} from './reservation.ts';

export interface UpdateOwnerRequest {
  readonly site: string;
  readonly cluster: string;
  readonly uid: string;
  readonly fencingToken: number;
  /** The current ports; if omitted, they do not change. */
  readonly ports?: readonly string[] | undefined;
  /** The addresses to keep, at least one; if omitted, all. The others go into quarantine. */
  readonly addresses?: readonly Address[] | undefined;
  readonly reason?: string | undefined;
}

/**
 * Changes an owner without assigning addresses. The ports on a shared address change if they don't conflict
 * with another owner. Addresses that are not kept are released, such as that of a family that the Service no
 * longer has.
 */
export function updateOwner(request: UpdateOwnerRequest): Decide<Reservation> {
  return (view, { now }) =>
    deciding(() => {
      const site = findSite(view, request.site);
      refuseIfMoved(site);
      const cluster = findCluster(site.view, request.cluster);
      const held = site.view.ownedBy(cluster.record.epoch, request.uid).map(({ record }) => record);
      if (held.length === 0) {
        throw new CausewayError('not-found', `${request.uid} holds no address`, {
          hint: 'Ensure it again; the cluster may have been reclaimed.',
        });
      }
      refuseStaleFencingToken(request, held);
      const keeps = keptOf(request, held);
      const left = held.filter((record) => !keeps.includes(record));
      const after = keeps.map((record) => withPorts(record, request));
      const answer = reservationOf(request.site, request.cluster, request.uid, after);
      const changed = after.filter((record, index) => record !== keeps[index]);
      if (changed.length + left.length === 0) return { kind: 'answer', answer };
      const writes = [
        ...changed.map((record) => put(keys.address(request.site, record.address), record)),
        ...left.map((record) =>
          release({ ...request, withdrawn: false }, record, site, cluster.record, now),
        ),
      ];
      return {
        kind: 'change',
        reads: [site.key, cluster.key, ...writes.map(({ key }) => key)],
        writes: [put(cluster.key, nextSequence(cluster)), ...writes],
        audit: {
          action: 'update',
          site: request.site,
          cluster: request.cluster,
          addresses: [...changed, ...left].map(({ address }) => address),
          owner: describeOwner(answer),
          reason: request.reason,
          detail: { ports: request.ports, freed: left.map(({ address }) => address) },
        },
        answer,
      };
    });
}

/** The held addresses that the request keeps. */
function keptOf({ addresses }: UpdateOwnerRequest, held: readonly HeldAddress[]): HeldAddress[] {
  const keeps = held.filter(({ address }) => addresses?.includes(address) ?? true);
  if (keeps.length > 0) return keeps;
  throw new CausewayError('invalid', `the owner holds none of ${addresses?.join(', ')}`, {
    hint: 'Keep at least one of its addresses. Free them all with a deletion.',
  });
}

function withPorts(held: HeldAddress, { uid, ports }: UpdateOwnerRequest): HeldAddress {
  if (ports === undefined) return held;
  const own = held.owners.find((owner) => owner.uid === uid);
  if (own === undefined || same(own.ports, ports)) return held;
  for (const other of held.owners) {
    const clash = other.uid === uid ? undefined : other.ports?.find((port) => ports.includes(port));
    if (clash === undefined) continue;
    const owner = describeOwner(other);
    throw new Refusal('conflict', 'address-in-use', `${clash} of ${held.address} is ${owner}'s`, {
      hint: 'Services that share an address need different ports.',
    });
  }
  const owners = held.owners.map(
    (owner): Owner => (owner.uid === uid ? { ...owner, ports: [...ports] } : owner),
  );
  return { ...held, owners };
}

function same(before: readonly string[] | undefined, after: readonly string[]): boolean {
  return [...(before ?? [])].sort().join() === [...after].sort().join();
}
