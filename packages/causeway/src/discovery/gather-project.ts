import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { CallOptions } from '@causeway/openstack/call';
import { collect } from '@causeway/openstack/collect';
import type { Listener, Pool } from '@causeway/openstack/load-balancing/resources';
import { missingFrom, ProjectReading, type Readable } from './project-reading.ts';
import type { ListenerView, MemberView, PoolView, ProjectTree } from './project-tree.ts';

/**
 * Reads a project's load balancers: three lists, and the members of each pool that a listener uses. Requests
 * are sequential, so that a slow project takes one place of the cloud's limit. Changes in the meantime can
 * make the lists contradict each other; then they are read again.
 */
export async function gatherProject(
  balancing: Readable,
  projectId: string,
  call: CallOptions,
): Promise<ProjectTree> {
  const gather = (isLast: boolean) =>
    gatherOnce(balancing, new ProjectReading(balancing, projectId, call, isLast), projectId, call);
  try {
    return await gather(false);
  } catch (error) {
    if (!isErrorCode(error, 'not-found') && !isErrorCode(error, 'conflict')) throw error;
    return gather(true);
  }
}

async function gatherOnce(
  balancing: Readable,
  reading: ProjectReading,
  projectId: string,
  call: CallOptions,
): Promise<ProjectTree> {
  // An administrator's token returns the objects of every project unless the request filters them.
  const filter = { projectId };
  const { isIts } = reading;
  const all = (await collect(balancing.loadBalancers(filter, call))).filter(isIts);
  if (all.length === 0) return { loadBalancers: [], unclear: [] };
  const own = (await collect(balancing.listeners(filter, call))).filter(isIts);
  const listeners = await reading.listenersOf(all, own);
  const ownPools = (await collect(balancing.pools(filter, call))).filter(isIts);
  const pools = await reading.poolsOf(listeners, ownPools);
  const views = await gatherPools(balancing, reading, listeners, pools, call);
  const l7Pools = l7PoolsByListener(pools, listeners);
  const byLoadBalancer = Map.groupBy(listeners, ({ loadBalancerId }) => loadBalancerId);
  const { unclear } = reading;
  return {
    loadBalancers: all
      .filter(({ id }) => !unclear.has(id))
      .map(({ id, name, adminStateUp, vipAddress }) => ({
        id,
        name,
        adminStateUp,
        vipAddress,
        listeners: (byLoadBalancer.get(id) ?? []).map((listener) =>
          listenerView(listener, views, l7Pools.get(listener.id) ?? []),
        ),
      })),
    unclear: all.flatMap(({ id, name }) => {
      const why = unclear.get(id);
      return why === undefined ? [] : [{ id, name, why }];
    }),
  };
}

async function gatherPools(
  balancing: Readable,
  reading: ProjectReading,
  listeners: readonly Listener[],
  pools: readonly Pool[],
  call: CallOptions,
): Promise<Map<string, PoolView>> {
  const users = Map.groupBy(listeners, ({ defaultPoolId }) => defaultPoolId);
  const views = new Map<string, PoolView>();
  for (const pool of pools) {
    const { id, protocol, tlsEnabled, adminStateUp } = pool;
    const used = users.get(id);
    if (used === undefined) continue;
    const loadBalancerIds = used.flatMap(({ loadBalancerId }) => loadBalancerId ?? []);
    const members = await gatherMembers(balancing, reading, pool, loadBalancerIds, call);
    views.set(id, { id, protocol, tlsEnabled, adminStateUp, members });
  }
  return views;
}

/** Members change often; if some are missing, only their pool is read again. */
async function gatherMembers(
  balancing: Readable,
  reading: ProjectReading,
  pool: Pool,
  loadBalancerIds: readonly string[],
  call: CallOptions,
): Promise<MemberView[]> {
  const first = await collect(balancing.members(pool.id, call));
  if (missingFrom(first, pool.memberIds).length === 0) return first.map(memberView);
  const now = await balancing.pool(pool.id, call);
  const second = await collect(balancing.members(pool.id, call));
  reading.checkMembers(now, second, loadBalancerIds);
  return second.map(memberView);
}

function memberView(member: MemberView): MemberView {
  const { address, port, weight, backup, adminStateUp, operatingStatus } = member;
  return { address, port, weight, backup, adminStateUp, operatingStatus };
}

function listenerView(
  { id, name, protocol, port, adminStateUp, defaultPoolId }: Listener,
  pools: ReadonlyMap<string, PoolView>,
  l7PoolIds: readonly string[],
): ListenerView {
  const pool = defaultPoolId === undefined ? undefined : pools.get(defaultPoolId);
  return { id, name, protocol, port, adminStateUp, pool, l7PoolIds };
}

/** Pools name all their listeners; a listener uses a pool that is not its default through a policy. */
function l7PoolsByListener(
  pools: readonly Pool[],
  listeners: readonly Listener[],
): Map<string, string[]> {
  const defaults = new Map(listeners.map(({ id, defaultPoolId }) => [id, defaultPoolId]));
  const found = new Map<string, string[]>();
  for (const { id, listenerIds } of pools) {
    for (const listenerId of listenerIds) {
      if (!defaults.has(listenerId) || defaults.get(listenerId) === id) continue;
      found.set(listenerId, [...(found.get(listenerId) ?? []), id]);
    }
  }
  return found;
}
