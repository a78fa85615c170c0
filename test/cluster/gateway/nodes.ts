import { servers } from '../../kernel/gateway/topology.ts';

export const nodeNames = ['n1', 'n2'] as const;
type NodeName = (typeof nodeNames)[number];

/** A node as its kubelet describes it. */
export function nodeObjects(): readonly object[] {
  return nodeNames.map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
}

export function nodeStatus(name: NodeName): object {
  return {
    addresses: Object.values(servers[name]).map((address) => ({ type: 'InternalIP', address })),
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
  };
}
