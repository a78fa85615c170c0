import { CausewayError, isErrorCode } from '../domain/error.ts';
import type { CallOptions } from '../openstack/call.ts';
import { collect } from '../openstack/collect.ts';
import type { LoadBalancing } from '../openstack/load-balancing/contract.ts';
import type { Listener, LoadBalancer, Pool } from '../openstack/load-balancing/resources.ts';
import type { ListenerView, MemberView, PoolView, ProjectTree } from './project-tree.ts';

type Readable = Pick<LoadBalancing, 'loadBalancers' | 'listeners' | 'pools' | 'pool' | 'members'>;

/**
 * Reads a project's load balancers: three lists, and the members of each pool that a listener sends to.
 * One request after another, so that a slow project takes one place of the cloud's limit. What changes
 * meanwhile can make the lists contradict each other; then they are read once more.
 */
export async function gatherProject(
  balancing: Readable,
  projectId: string,
  call: CallOptions,
): Promise<ProjectTree> {
  try {
    return await gatherOnce(balancing, projectId, call);
  } catch (error) {
    if (!isErrorCode(error, 'not-found') && !isErrorCode(error, 'conflict')) throw error;
    return gatherOnce(balancing, projectId, call);
  }
}

async function gatherOnce(
  balancing: Readable,
  projectId: string,
  call: CallOptions,
): Promise<ProjectTree> {
  // An administrator's token shows every project's objects unless asked for one's.
  const filter = { projectId };
  const isIts = (object: { readonly projectId: string }) => object.projectId === projectId;
  const loadBalancers = (await collect(balancing.loadBalancers(filter, call))).filter(isIts);
  if (loadBalancers.length === 0) return { loadBalancers: [] };
  const listeners = (await collect(balancing.listeners(filter, call))).filter(isIts);
  checkListeners(loadBalancers, listeners);
  const pools = (await collect(balancing.pools(filter, call))).filter(isIts);
  const views = await gatherPools(balancing, listeners, pools, call);
  const l7Pools = l7PoolsByListener(pools, listeners);
  const byLoadBalancer = Map.groupBy(listeners, ({ loadBalancerId }) => loadBalancerId);
  return {
    loadBalancers: loadBalancers.map(({ id, name, adminStateUp, vipAddress }) => ({
      ...{ id, name, adminStateUp, vipAddress },
      listeners: (byLoadBalancer.get(id) ?? []).map((listener) =>
        listenerView(listener, views, l7Pools.get(listener.id) ?? []),
      ),
    })),
  };
}

async function gatherPools(
  balancing: Readable,
  listeners: readonly Listener[],
  pools: readonly Pool[],
  call: CallOptions,
): Promise<Map<string, PoolView>> {
  const used = new Set(listeners.map(({ defaultPoolId }) => defaultPoolId));
  const views = new Map<string, PoolView>();
  for (const pool of pools) {
    const { id, protocol, tlsEnabled, adminStateUp } = pool;
    if (!used.has(id)) continue;
    const members = await gatherMembers(balancing, pool, call);
    views.set(id, { id, protocol, tlsEnabled, adminStateUp, members });
  }
  return views;
}

/** Members come and go; of a pool that is short of some, only that pool is asked for again. */
async function gatherMembers(
  balancing: Readable,
  pool: Pool,
  call: CallOptions,
): Promise<MemberView[]> {
  const first = await collect(balancing.members(pool.id, call));
  if (missingFrom(first, pool.memberIds) === undefined) return first.map(memberView);
  const { memberIds } = await balancing.pool(pool.id, call);
  const second = await collect(balancing.members(pool.id, call));
  const missing = missingFrom(second, memberIds);
  if (missing === undefined) return second.map(memberView);
  throw contradiction(`pool ${pool.id} has member ${missing}, which is not in the list of members`);
}

function checkListeners(
  loadBalancers: readonly LoadBalancer[],
  listeners: readonly Listener[],
): void {
  for (const { id, listenerIds } of loadBalancers) {
    const missing = missingFrom(listeners, listenerIds);
    if (missing === undefined) continue;
    throw contradiction(
      `load balancer ${id} has listener ${missing}, which is not in the list of listeners`,
    );
  }
}

/** The first that is named and not listed. */
function missingFrom(
  listed: readonly { readonly id: string }[],
  named: readonly string[],
): string | undefined {
  if (named.length === 0) return undefined;
  const known = new Set(listed.map(({ id }) => id));
  return named.find((id) => !known.has(id));
}

function contradiction(message: string): CausewayError {
  return new CausewayError('conflict', message, {
    hint: 'The load balancer is being changed, or not all of it is visible to our user.',
  });
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
  if (defaultPoolId !== undefined && pool === undefined) {
    throw contradiction(
      `listener ${id} sends to pool ${defaultPoolId}, which is not in the list of pools`,
    );
  }
  return { id, name, protocol, port, adminStateUp, pool, l7PoolIds };
}

/** Pools name all listeners that lead to them; where it is not by default, a policy decides. */
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
