import type { ClusterApi } from '@causeway/fake-kubernetes/cluster-api';
import { plannedNodes } from './plan.ts';

/** Pods need nodes to be bound to. */
export function addNodes(cluster: ClusterApi): void {
  for (const { name, addresses, pods } of plannedNodes) {
    const created = cluster.create('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      status: {
        addresses: addresses.map((address) => ({ type: 'InternalIP', address })),
        conditions: [{ type: 'Ready', status: 'True', reason: 'Playground' }],
      },
    });
    // A new node is tainted as not ready until the taint is removed.
    cluster.update('nodes', {
      ...structuredClone(created),
      spec: { podCIDR: pods[0], podCIDRs: [...pods] },
    });
  }
}
