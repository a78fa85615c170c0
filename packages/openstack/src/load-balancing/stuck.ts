import type { StatusNode, StatusTree } from './resources.ts';

/**
 * What under an ACTIVE load balancer is still pending. The service finishes children first, so there
 * should be nothing; Octavia 11.0.0 forgets the children of a load balancer that was created whole, and
 * they stay PENDING_CREATE and take no changes for good. The cure is to delete it whole and build it
 * step by step.
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
