import type { Address } from '@causeway/base/address/address';
import type { Frontend, FrontendKey } from '../../protocol/frontend.ts';
import type { Assignment, Policy, PolicyKey } from '../../protocol/policy.ts';
import type { Edits, GatewayState } from '../store/state.ts';
import type { GatewayNode } from '../../protocol/node.ts';
import type { Update } from '../../protocol/update.ts';

/** The changes of an update except those of frontends. */
export interface OtherEdits {
  readonly policies: Edits<PolicyKey, Policy>;
  readonly assignments: Edits<Address, Assignment>;
  readonly nodes: Edits<Address, GatewayNode>;
}

/**
 * The edits without removals that would change how the withheld frontends are served: the network policies of
 * their pods, and the last nodes. A pod must not be open because a frontend outlives its policy. The update
 * decides for each pod that one of its own frontends leads to.
 */
export function keepNeeds(
  state: GatewayState,
  push: Update,
  withheld: ReadonlySet<FrontendKey>,
  edits: OtherEdits,
): OtherEdits {
  if (withheld.size === 0) return edits;
  const pods = podsOfWithheldOnly(state, push, withheld);
  const inUse = new Set(
    [...pods].flatMap((address) => state.assignments.get(address)?.policies ?? []),
  );
  return {
    assignments: withoutRemovals(edits.assignments, (address) => pods.has(address)),
    policies: withoutRemovals(edits.policies, (key) => inUse.has(key)),
    nodes: keepNodes(state, withheld, edits.nodes),
  };
}

function podsOfWithheldOnly(
  state: GatewayState,
  push: Update,
  withheld: ReadonlySet<FrontendKey>,
): ReadonlySet<Address> {
  const pods = new Set<Address>();
  const others = new Set<Address>();
  for (const [key, frontend] of state.frontends) {
    if (withheld.has(key)) addDestinations(pods, frontend);
    else if (isUntouched(push, key)) addDestinations(others, frontend);
  }
  for (const frontend of push.frontends.values()) addDestinations(others, frontend);
  return pods.difference(others);
}

/** Whether the update leaves the frontend unchanged. */
function isUntouched({ header, frontends, removedFrontends }: Update, key: FrontendKey): boolean {
  return header.kind === 'delta' && !frontends.has(key) && !removedFrontends.has(key);
}

function addDestinations(addresses: Set<Address>, { destinations }: Frontend): void {
  for (const { address } of destinations) addresses.add(address);
}

/**
 * An update that leaves some nodes applies. Without any node, the withheld frontends would have no backend.
 */
function keepNodes(
  state: GatewayState,
  withheld: ReadonlySet<FrontendKey>,
  edits: Edits<Address, GatewayNode>,
): Edits<Address, GatewayNode> {
  const isNodeLeft =
    [...edits.values()].some((node) => node !== undefined) ||
    [...state.nodes.keys()].some((address) => !edits.has(address));
  if (isNodeLeft || edits.size === 0) return edits;
  const needsNodes = [...withheld].some((key) => usesNodes(state.frontends.get(key)));
  return needsNodes ? new Map() : edits;
}

function usesNodes(frontend: Frontend | undefined): boolean {
  return frontend?.nodePort !== undefined || frontend?.routedTo === 'nodes';
}

function withoutRemovals<Key, Value>(
  edits: Edits<Key, Value>,
  isNeeded: (key: Key) => boolean,
): Edits<Key, Value> {
  return new Map([...edits].filter(([key, value]) => value !== undefined || !isNeeded(key)));
}
