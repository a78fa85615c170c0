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

/** What a Service shows that is reached on a node: nothing for a family that the node has not. */
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
 * The address of the node that takes a Service's traffic: of the one that is named, else of the first
 * ready control plane node by name, whether or not it is left out of load balancers: it always was
 * that one.
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
