import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import { isEligibleNode } from '../services/nodes.ts';
import type { Ingress } from '../services/provider.ts';

const controlPlaneLabel = 'node-role.kubernetes.io/control-plane';

/** The ingress of a Service on a node. Families that the node does not have are left out. */
export function ingressOnNode(
  nodes: readonly Node[],
  named: string | undefined,
  families: readonly Family[],
): Ingress[] {
  return families.flatMap((family): Ingress[] => {
    const ip = addressOfNode(nodes, named, family);
    return ip === undefined ? [] : [{ ip, ipMode: 'VIP' }];
  });
}

/**
 * The address of the node for a Service's traffic: the named node, otherwise the first ready control plane
 * node by name. The label that excludes nodes from load balancers is ignored, for compatibility.
 */
export function addressOfNode(
  nodes: Iterable<Node>,
  named: string | undefined,
  family: Family,
): Address | undefined {
  const candidates = [...nodes].filter((node) =>
    named === undefined
      ? isReady(node) && node.metadata?.labels?.[controlPlaneLabel] !== undefined
      : node.metadata?.name === named && isEligibleNode(node),
  );
  candidates.sort((left, right) =>
    (left.metadata?.name ?? '') < (right.metadata?.name ?? '') ? -1 : 1,
  );
  for (const node of candidates) {
    const address = ofType(node, 'ExternalIP', family) ?? ofType(node, 'InternalIP', family);
    if (address !== undefined) return address;
  }
  return undefined;
}

function ofType(node: Node, wanted: 'ExternalIP' | 'InternalIP', family: Family) {
  for (const { type, address: text } of node.status?.addresses ?? []) {
    const address = type === wanted ? tryParseAddress(text) : undefined;
    if (address !== undefined && familyOf(address) === family) return address;
  }
  return undefined;
}

function isReady(node: Node): boolean {
  if (node.metadata?.deletionTimestamp !== undefined) return false;
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True';
}
