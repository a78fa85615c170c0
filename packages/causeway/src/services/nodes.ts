import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import { slimMetadata } from '@causeway/kubernetes/cache/projection';

const exclusionLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
const scaleDownTaint = 'ToBeDeletedByClusterAutoscaler';

/** Nodes by name. */
export interface NodeLookup {
  get(name: string): Node | undefined;
}

/** Whether a node can receive traffic from outside: it is ready, not being removed, and not excluded. */
export function isEligibleNode(node: Node): boolean {
  return !isExcludedNode(node) && isReadyNode(node);
}

/** Whether the node is being removed, or a label excludes it from load balancers. */
export function isExcludedNode(node: Node): boolean {
  const { labels = {}, deletionTimestamp } = node.metadata ?? {};
  if (deletionTimestamp !== undefined || exclusionLabel in labels) return true;
  return node.spec?.taints?.some(({ key }) => key === scaleDownTaint) === true;
}

export function isReadyNode(node: Node): boolean {
  return (
    node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ??
    false
  );
}

const keptReason = 'KeptByGuard';

/** The node as ready, because the guard keeps it. */
export function asKept(node: Node): Node {
  const conditions = [{ type: 'Ready', status: 'True' as const, reason: keptReason }];
  return { ...node, status: { ...node.status, conditions } };
}

/** Whether only the guard lets the node count as ready. */
export function isKeptNode({ status }: Node): boolean {
  return status?.conditions?.some(({ reason }) => reason === keptReason) === true;
}

/** A node whose condition has not changed since its creation has not been ready yet. */
const joiningMs = 2_000;

/** Whether a node has never been ready. */
export function isJoiningNode({ metadata, status }: Node): boolean {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  if (condition === undefined) return true;
  const changedAt = Date.parse(condition.lastTransitionTime ?? '');
  const createdAt = Date.parse(metadata?.creationTimestamp ?? '');
  return condition.status === 'False' && changedAt - createdAt < joiningMs;
}

/** The node's first internal address of a family. */
export function nodeAddress(node: Node, family: Family): Address | undefined {
  for (const { type, address: text } of node.status?.addresses ?? []) {
    const address = type === 'InternalIP' ? tryParseAddress(text) : undefined;
    if (address !== undefined && familyOf(address) === family) return address;
  }
  return undefined;
}

/**
 * The node addresses that backends with a node port use, in both families. If probes decide, a node that is not
 * ready is included after it has been ready: the Ready condition is a hint only.
 */
export function eligibleAddresses(nodes: Iterable<Node>, decidesByProbes = false): Address[] {
  const addresses: Address[] = [];
  for (const node of nodes) {
    const isUsable = decidesByProbes
      ? !isExcludedNode(node) && !isJoiningNode(node)
      : isEligibleNode(node);
    if (!isUsable) continue;
    for (const family of [4, 6] as const) {
      const address = nodeAddress(node, family);
      if (address !== undefined) addresses.push(address);
    }
  }
  return addresses;
}

/**
 * Keeps only the fields that Causeway reads. A kubelet writes its node's status every few seconds, but these
 * fields rarely change.
 */
export function slimNode(node: Node): Node {
  const { addresses, conditions } = node.status ?? {};
  const { taints } = node.spec ?? {};
  return {
    metadata: slimMetadata(node.metadata),
    spec: taints === undefined ? {} : { taints },
    status: {
      ...(addresses === undefined ? {} : { addresses }),
      conditions: (conditions ?? []).filter(({ type }) => type === 'Ready'),
    },
  };
}
