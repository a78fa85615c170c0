import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { findSite } from '../decision.ts';
import { keys } from '../keys.ts';
import { free } from '../release.ts';
import { reservationOf, type Reservation, type ReserveRequest } from '../reservation.ts';
import { updateOwner } from '../update-owner.ts';
import { reserveOrWait } from '../waiting.ts';
import { change, type Context, type Handlers } from './context.ts';
import type { AnswerOf } from './operations.ts';

export type LoadBalancerOperation =
  | 'deleteLoadBalancer'
  | 'ensureLoadBalancer'
  | 'updateLoadBalancer';

/** Requests of a cluster's controller for its Services: an address, and the settings for its announcer. */
export const loadBalancerHandlers: Handlers<LoadBalancerOperation> = {
  async ensureLoadBalancer(context, { params: { site, cluster, uid }, body }) {
    const { waitMs, reason, ...rest } = body;
    const request: ReserveRequest = {
      site,
      cluster,
      demand: { ...rest, uid, purpose: 'load-balancer' },
      reason,
    };
    const { allocator, caller, needs, signal } = context;
    const answer = await reserveOrWait(allocator, { caller, needs }, request, waitMs, signal);
    return answer.state === 'waiting' ? answer : held(context, answer.reservation);
  },

  async updateLoadBalancer(context, { params, body }) {
    const { platforms, signal } = context;
    const before = await owned(context, params);
    if (before.addresses.length > 0) refuseControlPlane(before);
    const { addresses: kept } = body;
    const leaving = before.addresses.filter(({ address }) => kept?.includes(address) === false);
    const left: Reservation = { ...before, addresses: leaving };
    const queueKey = keys.cluster(params.site, params.cluster);
    const after = await change(context, queueKey, updateOwner({ ...params, ...body }));
    await platforms.release(left, signal);
    await platforms.restore(left, signal);
    return held(context, after);
  },

  async deleteLoadBalancer(context, { params, query: { fencingToken, withdrawn, reason } }) {
    const { platforms, signal } = context;
    const reservation = await owned(context, params);
    refuseControlPlane(reservation);
    if (fencingToken !== undefined && reservation.fencingToken === fencingToken) {
      await platforms.release(reservation, signal);
    }
    const decide = free({ ...params, fencingToken, withdrawn, reason });
    const { freed } = await change(context, keys.cluster(params.site, params.cluster), decide);
    await platforms.restore(reservation, signal);
    return { freed: [...freed] };
  },
};

async function held(
  context: Context,
  reservation: Reservation,
): Promise<AnswerOf<'updateLoadBalancer'>> {
  refuseControlPlane(reservation);
  const reached = await context.platforms.ensure(reservation, context.signal);
  const { fencingToken, addresses } = reservation;
  const pools = findSite(context.allocator.view, reservation.site).record.pools;
  const announcer = pools.find(({ name }) => name === addresses[0]?.pool)?.announcer;
  return {
    state: 'held',
    fencingToken,
    addresses: addresses.map((each) => withPublic(each, reached.get(each.address))),
    ...(announcer === undefined ? {} : { announcer }),
  };
}

function withPublic<T extends object>(address: T, publicAddress: Address | undefined) {
  return publicAddress === undefined ? address : { ...address, publicAddress };
}

/** The owner's current reservation; without addresses if it has none. */
function owned(
  context: Context,
  { site, cluster, uid }: { readonly site: string; readonly cluster: string; readonly uid: string },
): Promise<Reservation> {
  return context.allocator.read(
    context,
    (view) => {
      const { view: siteView } = findSite(view, site);
      const epoch = siteView.clusters.get(cluster)?.record.epoch ?? '';
      const records = siteView.ownedBy(epoch, uid).map(({ record }) => record);
      return reservationOf(site, cluster, uid, records);
    },
    context.signal,
  );
}

function refuseControlPlane({ purpose }: Reservation): void {
  if (purpose === 'load-balancer') return;
  throw new CausewayError('invalid', 'this owner is the control plane, not a Service');
}
