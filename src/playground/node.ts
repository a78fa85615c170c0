import type { ClusterApi } from '../sandbox/kubernetes/cluster-api.ts';
import { plan } from './plan.ts';

/** Pods need a node to be bound to. */
export function addNode(cluster: ClusterApi): void {
  const { name, address } = plan.node;
  const created = cluster.create('nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: {
      addresses: [{ type: 'InternalIP', address }],
      conditions: [{ type: 'Ready', status: 'True', reason: 'Playground' }],
    },
  });
  // A new node is tainted as not ready until somebody says otherwise.
  cluster.update('nodes', { ...structuredClone(created), spec: {} });
}
