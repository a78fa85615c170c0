import type { StatusNode, StatusTree } from './resources.ts';

/**
 * Pending children of an ACTIVE load balancer. The service finishes children first, so there should be none.
 * Octavia 11.0.0 drops the children of a load balancer that was created in one request: they stay
 * PENDING_CREATE for good and accept no changes. The remedy is to delete the load balancer and create it step
 * by step.
 */
export function stuckChildren(tree: StatusTree): StatusNode[] {
  if (tree.provisioningStatus !== 'ACTIVE') return [];
  const pools = [...tree.pools, ...tree.listeners.flatMap((listener) => listener.pools)];
  const nodes: StatusNode[] = [
    ...tree.listeners,
    ...pools,
    ...pools.flatMap((pool) => pool.members),
    ...pools.flatMap((pool) => pool.healthMonitor ?? []),
  ];
  return nodes.filter((node) => node.provisioningStatus.startsWith('PENDING_'));
}
