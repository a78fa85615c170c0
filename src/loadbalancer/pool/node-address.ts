import type { Family } from '../../domain/address.ts';
import type { Address } from '../../domain/address.ts';
import type { Node } from '../../kube/core-objects.ts';
import { isEligibleNode, nodeAddress } from '../gateway/nodes.ts';

const controlPlaneLabel = 'node-role.kubernetes.io/control-plane';

/**
 * The address of the node that takes a Service's traffic: of the one that is named, else of the first
 * control plane node by name. A control plane node is taken even where others would leave it out,
 * because it was always that one.
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
    const address = nodeAddress(node, family);
    if (address !== undefined) return address;
  }
  return undefined;
}

function isReady(node: Node): boolean {
  if (node.metadata?.deletionTimestamp !== undefined) return false;
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True';
}
