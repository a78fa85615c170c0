import { CausewayError } from '@causeway/base/error/causeway-error';
import { rotateCredential } from '../credential-decisions.ts';
import { mintToken } from '../credential.ts';
import { findCluster, findSite } from '../decision.ts';
import { keys } from '../keys.ts';
import { free } from '../release.ts';
import type { ReserveAnswer, ReserveRequest } from '../reservation.ts';
import { reserveOrWait } from '../waiting.ts';
import { addressAnswer, clusterAnswer, reservationsOf } from './answers.ts';
import { change, type Handlers } from './context.ts';
import type { AnswerOf } from './operations.ts';

export type ClusterOperation =
  | 'free'
  | 'getCluster'
  | 'heartbeat'
  | 'listReservations'
  | 'reserve'
  | 'rotateCredential'
  | 'whoHas';

/** Operations of a cluster with its own credential, or of an operator for it. */
export const clusterHandlers: Handlers<ClusterOperation> = {
  getCluster: (context, { params }) =>
    context.allocator.read(
      context,
      (view) => {
        const site = findSite(view, params.site).view;
        const { record } = findCluster(site, params.cluster);
        return clusterAnswer(site, record, context.allocator.now);
      },
      context.signal,
    ),

  heartbeat: ({ heartbeats, caller, signal }, { params, body }) =>
    heartbeats.beat(caller, { ...params, ...body }, signal),

  async reserve(context, { params: { site, cluster }, body: { waitMs, reason, ...demand } }) {
    const request: ReserveRequest = { site, cluster, demand, reason };
    const { allocator, caller, signal } = context;
    // The tool that creates the cluster reserves the control plane's address; the cluster itself never does.
    const needs =
      demand.purpose === 'control-plane' ? ({ kind: 'operator' } as const) : context.needs;
    return shown(await reserveOrWait(allocator, { caller, needs }, request, waitMs, signal));
  },

  listReservations: (context, { params }) =>
    context.allocator.read(
      context,
      (view) => {
        const site = findSite(view, params.site).view;
        const { record } = findCluster(site, params.cluster);
        const items = reservationsOf(site, record);
        return { items: items.map((item) => ({ ...item, addresses: [...item.addresses] })) };
      },
      context.signal,
    ),

  async free(context, { params: { site, cluster, uid }, query }) {
    const { fencingToken, withdrawn, reason } = query;
    const decide = free({ site, cluster, uid, fencingToken, withdrawn, reason });
    const { freed } = await change(context, keys.cluster(site, cluster), decide);
    return { freed: [...freed] };
  },

  async rotateCredential(context, { body: { overlapMs } }) {
    const { caller } = context;
    if (caller === 'system') throw new CausewayError('invalid', 'there is no token to rotate');
    const { id, hash, token } = mintToken();
    const decide = rotateCredential({ from: caller.id, id, hash, overlapMs });
    return { credential: await change(context, keys.credential(caller.id), decide), token };
  },

  whoHas: (context, { params: { site, address } }) =>
    context.allocator.read(
      context,
      (view, grant) => addressAnswer(view, site, address, grant, context.allocator.now),
      context.signal,
    ),
};

function shown(answer: ReserveAnswer): AnswerOf<'reserve'> {
  if (answer.state === 'waiting') return answer;
  const { reservation } = answer;
  return {
    state: 'held',
    reservation: { ...reservation, addresses: [...reservation.addresses] },
  };
}
