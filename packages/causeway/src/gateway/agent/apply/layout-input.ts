import { familyOf, type Address } from '@causeway/base/address/address';
import type { LayoutChange } from '@causeway/nftables/compile/layout-change';
import {
  serviceKey,
  type Affinity,
  type Backend as Place,
  type Dispatch,
  type IngressPolicy,
  type IngressRule as LayoutRule,
  type PodPolicies,
  type PortRange,
  type ServiceKey,
  type VirtualService,
} from '@causeway/nftables/compile/virtual-service';
import type { WholeLayout } from './ruleset-writer.ts';
import {
  parseFrontendKey,
  type Destination,
  type Frontend,
  type FrontendKey,
} from '../../protocol/frontend.ts';
import type {
  Assignment,
  NamedPort,
  Policy,
  PolicyKey,
  PortFilter,
} from '../../protocol/policy.ts';
import { Edited, type Change, type GatewayState } from '../store/state.ts';
import type { GatewayNode } from '../../protocol/node.ts';

/**
 * Backends and nodes that don't answer. They get no new connections unless all of them are unhealthy, and keep
 * the TCP and SCTP connections that they have answered.
 */
export type UnhealthyAddresses = ReadonlySet<Address>;

// Shared by all frontends, because there are tens of thousands.
const withoutAffinity: Affinity = { kind: 'none' };
const byClient: Affinity = { kind: 'client-hash' };

/** A frontend in the form of the nftables engine. */
export function toVirtualService(
  frontend: Frontend,
  unhealthy: UnhealthyAddresses,
): VirtualService {
  const { address, protocol, port, sourceRanges, masquerade } = frontend;
  const draining = drainingOf(frontend, unhealthy);
  return {
    address,
    protocol,
    port,
    dispatch: dispatchOf(frontend, unhealthy),
    affinity: frontend.affinity === 'client' ? byClient : withoutAffinity,
    ...(sourceRanges.length === 0 ? {} : { sourceRanges }),
    ...(draining.length === 0 ? {} : { draining }),
    masquerade,
  };
}

/**
 * Backends with the weight 0, and unhealthy ones. An unhealthy backend's UDP flows move to a healthy one, because
 * they have no end.
 */
function drainingOf(
  { protocol, destinations }: Frontend,
  unhealthy: UnhealthyAddresses,
): readonly Place[] {
  const leaving = destinations.filter(({ weight }) => weight === 0);
  const failing =
    protocol === 'UDP' ? [] : notAnswering(destinations.filter(isWeighted), unhealthy);
  return [...leaving, ...failing].map(({ address, port }) => ({ address, port }));
}

function isWeighted({ weight }: Destination): boolean {
  return weight > 0;
}

function dispatchOf(frontend: Frontend, unhealthy: UnhealthyAddresses): Dispatch {
  const { nodePort, routedTo, destinations } = frontend;
  if (nodePort !== undefined) return { kind: 'node-ports', nodePort };
  if (routedTo === undefined)
    return { kind: 'slots', backends: answering(destinations.filter(isWeighted), unhealthy) };
  if (routedTo === 'nodes') return { kind: 'nodes-unchanged' };
  const nodes = answering(
    routedTo.map((address) => ({ address })),
    unhealthy,
  );
  return { kind: 'nodes-unchanged', nodes: nodes.map(({ address }) => address) };
}

/** Returns all items if none is healthy: then a fault of this gateway is more likely. */
function answering<Item extends { readonly address: Address }>(
  items: readonly Item[],
  unhealthy: UnhealthyAddresses,
): readonly Item[] {
  if (unhealthy.size === 0) return items;
  const left = items.filter(({ address }) => !unhealthy.has(address));
  return left.length === 0 ? items : left;
}

/** The items that {@link answering} leaves out. */
function notAnswering<Item extends { readonly address: Address }>(
  items: readonly Item[],
  unhealthy: UnhealthyAddresses,
): readonly Item[] {
  if (unhealthy.size === 0) return [];
  const out = items.filter(({ address }) => unhealthy.has(address));
  return out.length === items.length ? [] : out;
}

/** The nodes that get new connections, and those that keep their connections only. */
export function toNodes(
  nodes: Iterable<{ readonly address: Address }>,
  unhealthy: UnhealthyAddresses,
): { readonly nodes: Address[]; readonly drainingNodes: Address[] } {
  const all = [...nodes];
  const serving: Address[] = [];
  const drainingNodes: Address[] = [];
  for (const family of [4, 6] as const) {
    const own = all.filter(({ address }) => familyOf(address) === family);
    serving.push(...answering(own, unhealthy).map(({ address }) => address));
    drainingNodes.push(...notAnswering(own, unhealthy).map(({ address }) => address));
  }
  return { nodes: serving, drainingNodes };
}

/** A state, or the state after a pending change: see {@link stateAfter}. */
export interface StateView {
  readonly frontends: MapView<FrontendKey, Frontend>;
  readonly policies: MapView<PolicyKey, Policy>;
  readonly assignments: MapView<Address, Assignment>;
  readonly nodes: MapView<Address, GatewayNode>;
}

interface MapView<Key, Value> {
  get(key: Key): Value | undefined;
  values(): Iterable<Value>;
}

/** A view of the state after the change, without a copy. */
export function stateAfter(state: GatewayState, change: Change): StateView {
  return {
    frontends: new Edited(state.frontends, change.frontends),
    policies: new Edited(state.policies, change.policies),
    assignments: new Edited(state.assignments, change.assignments),
    nodes: new Edited(state.nodes, change.nodes),
  };
}

/** The engine's change for everything that the state change touches, with values from the view. */
export function toLayoutChange(
  view: StateView,
  change: Change,
  unhealthy: UnhealthyAddresses,
): LayoutChange {
  const set: VirtualService[] = [];
  const remove: ServiceKey[] = [];
  for (const key of change.frontends.keys()) {
    const frontend = view.frontends.get(key);
    if (frontend === undefined) remove.push(serviceKey(parseFrontendKey(key)));
    else set.push(toVirtualService(frontend, unhealthy));
  }
  return {
    set,
    remove,
    ...(change.nodes.size === 0 ? {} : toNodes(view.nodes.values(), unhealthy)),
    ...policyEdits(view, change),
  };
}

/** The pods with changed assignments, and those that a changed policy selects, with their policies. */
function policyEdits(
  view: StateView,
  change: Change,
): Pick<LayoutChange, 'policyEdits' | 'podEdits'> {
  const touched = new Set(change.assignments.keys());
  if (change.policies.size > 0) {
    for (const { address, policies } of view.assignments.values()) {
      if (policies.some((key) => change.policies.has(key))) touched.add(address);
    }
  }
  if (touched.size === 0) return {};
  const assignments = [...touched].flatMap((address) => view.assignments.get(address) ?? []);
  const { policies, pods } = toPolicies(view.policies, assignments);
  const podEdits = new Map<Address, PodPolicies | undefined>();
  for (const address of touched) podEdits.set(address, undefined);
  for (const pod of pods) podEdits.set(pod.address, pod);
  return {
    policyEdits: new Map(policies.map((each) => [`${each.namespace}/${each.name}`, each])),
    podEdits,
  };
}

/**
 * Policies and the pods they select, with resolved port names. A name may mean different ports in different
 * pods, so a policy with port names has one variant for each meaning.
 */
export function toPolicies(
  policies: { get(key: PolicyKey): Policy | undefined },
  assignments: Iterable<Assignment>,
): { policies: IngressPolicy[]; pods: PodPolicies[] } {
  const variants = new Map<string, IngressPolicy>();
  const pods: PodPolicies[] = [];
  for (const assignment of assignments) {
    const selected: string[] = [];
    for (const key of assignment.policies) {
      // An unknown policy allows nothing; the pod stays selected.
      const policy = policies.get(key);
      if (policy === undefined) continue;
      const variant = resolvePolicy(policy, assignment.namedPorts);
      selected.push(`${variant.namespace}/${variant.name}`);
      variants.set(`${variant.namespace}/${variant.name}`, variant);
    }
    pods.push({ address: assignment.address, policies: selected });
  }
  return { policies: [...variants.values()], pods };
}

function resolvePolicy(policy: Policy, names: readonly NamedPort[]): IngressPolicy {
  const meanings = new Set<string>();
  const allow = policy.ingress.map(({ from, ports }): LayoutRule => {
    const ranges = ports?.flatMap((filter) => resolvePort(filter, names, meanings));
    return {
      ...(from === undefined ? {} : { from }),
      ...(ranges === undefined ? {} : { ports: ranges }),
    };
  });
  // Names in Kubernetes can't contain these characters, so a variant never has the key of another policy.
  const suffix = meanings.size === 0 ? '' : `#${[...meanings].sort().join(',')}`;
  return { namespace: policy.namespace, name: `${policy.name}${suffix}`, allow };
}

function resolvePort(
  filter: PortFilter,
  names: readonly NamedPort[],
  meanings: Set<string>,
): PortRange[] {
  const { protocol, port, endPort } = filter;
  if (port === undefined) return [{ protocol }];
  if (typeof port === 'number') {
    return [{ protocol, first: port, ...(endPort === undefined ? {} : { last: endPort }) }];
  }
  const matches = names.filter((named) => named.name === port && named.protocol === protocol);
  meanings.add(`${port}/${protocol}=${matches.map((named) => named.port).join('+')}`);
  return matches.map((named) => ({ protocol, first: named.port }));
}

/** The complete layout for the engine, for a start from nothing. */
export function toWholeLayout(state: GatewayState, unhealthy: UnhealthyAddresses): WholeLayout {
  return {
    set: [...state.frontends.values()].map((frontend) => toVirtualService(frontend, unhealthy)),
    ...toNodes(state.nodes.values(), unhealthy),
    ...toPolicies(state.policies, state.assignments.values()),
  };
}

/** Frontends with slots that depend on these addresses. */
export function frontendsTo(
  frontends: Iterable<Frontend>,
  addresses: ReadonlySet<Address>,
): Frontend[] {
  return [...frontends].filter(
    ({ destinations, routedTo }) =>
      destinations.some(({ address }) => addresses.has(address)) ||
      (typeof routedTo === 'object' && routedTo.some((address) => addresses.has(address))),
  );
}

/** The virtual addresses that a gateway serves after the change; undefined if they don't change. */
export function addressesAfter(state: GatewayState, change: Change): Set<Address> | undefined {
  if (
    ![...change.frontends].some(
      ([key, value]) => state.frontends.has(key) !== (value !== undefined),
    )
  ) {
    return undefined;
  }
  const before = addressesOf(state.frontends.values());
  const after = addressesOf(new Edited(state.frontends, change.frontends).values());
  return before.symmetricDifference(after).size === 0 ? undefined : after;
}

export function addressesOf(frontends: Iterable<Frontend>): Set<Address> {
  const addresses = new Set<Address>();
  for (const { address } of frontends) addresses.add(address);
  return addresses;
}

/** Frontends that the view no longer has, on addresses that are no longer announced. */
export function removalsWithAddress(
  view: StateView,
  change: Change,
  announced: ReadonlySet<Address>,
): Set<ServiceKey> {
  const removals = new Set<ServiceKey>();
  for (const key of change.frontends.keys()) {
    const id = parseFrontendKey(key);
    if (view.frontends.get(key) === undefined && !announced.has(id.address)) {
      removals.add(serviceKey(id));
    }
  }
  return removals;
}
