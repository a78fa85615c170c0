import { withDeadline } from '@causeway/base/time/deadline';
import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { Allocator } from './allocator.ts';
import type { Caller, Permission } from './credential.ts';
import { keys } from './keys.ts';
import { placeKeptMs } from './queue.ts';
import type { ReserveAnswer, ReserveRequest } from './reservation.ts';
import { reserve } from './reserve.ts';

/** Reserves, or waits up to the given time. A request that still waits then keeps its place for a while. */
export async function reserveOrWait(
  allocator: Allocator,
  authorization: { readonly caller: Caller; readonly needs: Permission },
  request: ReserveRequest,
  waitMs: number | undefined,
  signal: AbortSignal,
): Promise<ReserveAnswer> {
  const queueKey = keys.cluster(request.site, request.cluster);
  const attempt = () => {
    const waitUntil = waitMs === undefined ? undefined : allocator.now + waitMs + placeKeptMs;
    return allocator.change(
      { ...authorization, queueKey, decide: reserve({ ...request, waitUntil }) },
      signal,
    );
  };
  const first = await attempt();
  if (first.state === 'held' || waitMs === undefined || waitMs === 0) return first;
  try {
    await withDeadline(allocator.clock, waitMs, signal, 'an address', async (limit) => {
      while (isStillWaiting(allocator, request)) await allocator.follower.changed(limit);
    });
  } catch (error) {
    if (!isErrorCode(error, 'timeout')) throw error;
    return first;
  }
  return attempt();
}

function isStillWaiting(allocator: Allocator, { site, cluster, demand }: ReserveRequest): boolean {
  const waiters = allocator.view.site(site)?.waiters;
  return waiters?.has(keys.waiter(site, cluster, demand.uid)) === true;
}
