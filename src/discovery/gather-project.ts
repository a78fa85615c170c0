import { CausewayError, isErrorCode } from '../domain/error.ts';
import type { CallOptions } from '../openstack/call.ts';
import { collect } from '../openstack/collect.ts';
import type { LoadBalancing } from '../openstack/load-balancing/contract.ts';
import type { Listener, Pool } from '../openstack/load-balancing/resources.ts';
import type { ListenerView, MemberView, PoolView, ProjectTree } from './project-tree.ts';

/**
 * Reads a project's load balancers: three lists, and the members of each pool that a listener sends to.
 * One request after another, so that a slow project takes one place of the cloud's limit. What changes
 * meanwhile can make the lists contradict each other; then they are read once more.
 */
export async function gatherProject(
  balancing: Pick<LoadBalancing, 'loadBalancers' | 'listeners' | 'pools' | 'members'>,
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
  balancing: Pick<LoadBalancing, 'loadBalancers' | 'listeners' | 'pools' | 'members'>,
  projectId: string,
  call: CallOptions,
): Promise<ProjectTree> {
  // An administrator's token shows every project's objects unless asked for one's.
  const filter = { projectId };
  const isIts = (object: { readonly projectId: string }) => object.projectId === projectId;
  const loadBalancers = (await collect(balancing.loadBalancers(filter, call))).filter(isIts);
  if (loadBalancers.length === 0) return { loadBalancers: [] };
  const listeners = (await collect(balancing.listeners(filter, call))).filter(isIts);
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
  balancing: Pick<LoadBalancing, 'members'>,
  listeners: readonly Listener[],
  pools: readonly Pool[],
  call: CallOptions,
): Promise<Map<string, PoolView>> {
  const used = new Set(listeners.map(({ defaultPoolId }) => defaultPoolId));
  const views = new Map<string, PoolView>();
  for (const { id, protocol, tlsEnabled, adminStateUp } of pools) {
    if (!used.has(id)) continue;
    const members: MemberView[] = [];
    for await (const member of balancing.members(id, call)) members.push(memberView(member));
    views.set(id, { id, protocol, tlsEnabled, adminStateUp, members });
  }
  return views;
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
    throw new CausewayError(
      'conflict',
      `listener ${id} sends to pool ${defaultPoolId}, which is not in the list of pools`,
      { hint: 'The load balancer is being changed, or its pools are not visible to our user.' },
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
