import type { BackendLayer } from '../../services/backend-layer.ts';
import type { Address, Family } from '@causeway/base/address/address';
import { familyOf, tryParseAddress } from '@causeway/base/address/address';
import { withoutLeadingZeros } from '@causeway/base/address/leading-zeros';
import { parsePort, type Port } from '@causeway/base/address/port';
import { parseInterface, prefixOf, type Prefix } from '@causeway/base/address/prefix';
import { canonicalRanges } from '@causeway/base/address/range-list';
import {
  makeFrontend,
  type Destination,
  type Frontend,
  type Masquerade,
} from '../protocol/frontend.ts';
import { budgetedFrontend } from '../../services/budgeted-frontend.ts';
import { ownerKey, type FrontendPort, type FrontendSpec } from '../../services/frontend-spec.ts';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { Endpoint, EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { budgetExcess, type BudgetExcess } from '@causeway/kubernetes/objects/service-budget';
import { defaultWeight } from './policies/pod-weight.ts';
import { isEligibleNode, nodeAddress, type NodeLookup } from '../../services/nodes.ts';

export interface BackendInput {
  readonly spec: FrontendSpec;
  /** The address of each family on which the gateways serve. */
  readonly addresses: ReadonlyMap<Family, Address>;
  readonly slices: readonly EndpointSlice[];
  readonly nodes: NodeLookup;
  readonly layer: BackendLayer;
  readonly masquerade: Masquerade;
  /**
   * The families in which nodes know the served address. Behind a floating IP, nodes know the floating IP and
   * not the address of the gateways.
   */
  readonly routable: ReadonlySet<Family>;
  /** Whether the address of a pod may be used already, in the layer Pod. If missing, all may. */
  readonly isPodKnown?: (address: Address) => boolean;
  /** The weight of a pod (`namespace/name`), in the layer Pod. If missing, all have the same. */
  readonly podWeight?: (pod: string) => { readonly weight: number; readonly isValid: boolean };
  /** Why the network policies of the namespace are too large for gateways, in the layer Pod. */
  readonly policyExcess?: BudgetExcess | undefined;
}

export interface Backends {
  /** Set if the Service exceeds the budget for one Service. Nothing of it is served. */
  readonly excess?: BudgetExcess;
  readonly frontends: readonly Frontend[];
  /** The parts that can't be served, described for the user. */
  readonly problems: readonly string[];
  /** The names of pods with a weight that can't be read. */
  readonly invalidWeights: readonly string[];
  /** Whether pods were left out because they are not known yet. */
  readonly isIncomplete: boolean;
}

const idledAnnotation = 'idling.alpha.openshift.io/idled-at';

const nothing = { frontends: [], problems: [], invalidWeights: [], isIncomplete: false };

/** The frontends that the gateways serve for a Service: one for each family and port. */
export function backendsOf(input: BackendInput): Backends {
  const excess = budgetExcess(budgetedFrontend(input.spec), input.slices);
  // Closed rather than kept: the former frontends may admit sources that the spec no longer allows.
  if (excess !== undefined) return { ...nothing, excess };
  if (input.policyExcess !== undefined) {
    return { ...nothing, excess: input.policyExcess, isIncomplete: true };
  }
  const frontends: Frontend[] = [];
  const problems: string[] = [];
  const ranges = sourceRanges(input.spec);
  for (const [family, address] of input.addresses) {
    const familyRanges = canonicalRanges(
      ranges.filter((range) => familyOf(range.address) === family),
    );
    for (const port of input.spec.ports) {
      const target = targetOf(input, family, port);
      if (typeof target === 'string') {
        problems.push(`${port.protocol}/${port.port}: ${target}`);
        continue;
      }
      if (isDrained(target) && readyEndpoints(input, family, port).length > 0) {
        problems.push(
          `${port.protocol}/${port.port}: all pods have the weight 0, so none gets new connections`,
        );
      }
      // Ranges of the other family only: no client of this family may connect.
      if (ranges.length > 0 && familyRanges.length === 0) continue;
      frontends.push(
        makeFrontend({
          address,
          protocol: port.protocol,
          port: parsePort(port.port),
          service: ownerKey(input.spec.owner),
          affinity: input.spec.policy.affinity,
          masquerade: input.masquerade,
          sourceRanges: familyRanges,
          ...target,
        }),
      );
    }
  }
  const isPodLayer = input.layer === 'Pod';
  return {
    frontends,
    problems,
    invalidWeights: isPodLayer ? invalidlyWeighted(input) : [],
    isIncomplete: isPodLayer && hasUnknownPods(input),
  };
}

function invalidlyWeighted({ spec, slices, podWeight }: BackendInput): readonly string[] {
  if (podWeight === undefined) return [];
  const pods = slices
    .flatMap(({ endpoints = [] }) => endpoints ?? [])
    .flatMap(({ targetRef }) => (targetRef?.kind === 'Pod' ? (targetRef.name ?? []) : []))
    .filter((name) => !podWeight(`${spec.owner.namespace}/${name}`).isValid);
  return [...new Set(pods)].sort();
}

/** No backend gets new connections. */
function isDrained(target: Target): boolean {
  if (!('destinations' in target) || target.destinations.length === 0) return false;
  return target.destinations.every(({ weight }) => weight === 0);
}

function isUsable(input: BackendInput, { address, isPod }: ReadyEndpoint): boolean {
  return !isPod || (input.isPodKnown?.(address) ?? true);
}

function hasUnknownPods(input: BackendInput): boolean {
  return [...input.addresses.keys()].some((family) =>
    input.spec.ports.some((port) =>
      readyEndpoints(input, family, port).some((endpoint) => !isUsable(input, endpoint)),
    ),
  );
}

type Target =
  | { readonly nodePort: Port }
  | { readonly destinations: readonly Destination[] }
  | { readonly routedTo: 'nodes' | readonly Address[] };

function targetOf(input: BackendInput, family: Family, port: FrontendPort): Target | string {
  const ready = readyEndpoints(input, family, port);
  // Nodes wake an idle Service, on every backend layer. They hold connections as soon as no endpoint is
  // ready, so terminating pods get no new connections.
  if (isIdle(input.spec) && reallyReady(input, family, port).length === 0) {
    return nodesTarget(input, family, port);
  }
  switch (input.layer) {
    case 'NodePort':
      return nodesTarget(input, family, port, ready);
    case 'ClusterIP':
      return clusterTarget(input.spec, family, port);
    case 'Pod':
      return {
        destinations: podDestinations(input, ready, leavingEndpoints(input, family, port)),
      };
  }
}

/** Pods that terminate or are not ready are draining. Terminating pods that serve are used if no other pod is left. */
function podDestinations(
  input: BackendInput,
  ready: readonly ReadyEndpoint[],
  draining: readonly ReadyEndpoint[],
): Destination[] {
  const serving = new Map<string, Destination>();
  const add = (
    endpoints: readonly ReadyEndpoint[],
    weightOf: (endpoint: ReadyEndpoint) => number,
  ) => {
    for (const endpoint of endpoints) {
      const key = `${endpoint.address} ${endpoint.port}`;
      if (!isUsable(input, endpoint) || serving.has(key)) continue;
      serving.set(key, at(endpoint.address, endpoint.port, weightOf(endpoint)));
    }
  };
  const { namespace } = input.spec.owner;
  add(ready, ({ pod }) =>
    pod === undefined
      ? defaultWeight
      : (input.podWeight?.(`${namespace}/${pod}`).weight ?? defaultWeight),
  );
  add(draining, () => 0);
  return [...serving.values()];
}

/** Every node; with the policy Local only nodes with endpoints, if there are any. */
function nodesTarget(
  input: BackendInput,
  family: Family,
  port: FrontendPort,
  ready?: readonly ReadyEndpoint[],
): Target | string {
  const isLocal = input.spec.backends.trafficPolicy === 'Local';
  const local = isLocal && ready !== undefined ? nodesWith(input, family, ready) : undefined;
  if (port.nodePort === undefined) return routedTarget(input, family, local);
  const nodePort = parsePort(port.nodePort);
  if (local === undefined) return { nodePort };
  const inUse = new Set(local);
  const draining = drainingNodes(input, family, port);
  return {
    destinations: [
      ...local.map((address) => at(address, nodePort)),
      ...draining.filter((node) => !inUse.has(node)).map((node) => at(node, nodePort, 0)),
    ],
  };
}

/** Without a node port, nodes get the packets unchanged and must know the address themselves. */
function routedTarget(
  input: BackendInput,
  family: Family,
  local: readonly Address[] | undefined,
): Target | string {
  const why = 'the port has no node port, and the gateways cannot send to a node unchanged';
  const help = 'Remove allocateLoadBalancerNodePorts: false, or use the backend layer Pod.';
  if (!input.routable.has(family)) {
    return `${why}: nodes know the floating IP of the Service, not the address behind the floating IP. ${help}`;
  }
  if (input.masquerade === 'always') {
    return `${why}: the gateways rewrite every source (gateway.masquerade). ${help}`;
  }
  return { routedTo: local ?? 'nodes' };
}

/** The nodes of draining endpoints. TCP and SCTP connections also stay on a node that is not eligible. */
function drainingNodes(
  input: BackendInput,
  family: Family,
  port: FrontendPort,
): readonly Address[] {
  const leaving = leavingEndpoints(input, family, port);
  return nodesWith(input, family, leaving, port.protocol === 'UDP' ? isEligibleNode : () => true);
}

/** The usable nodes with these endpoints. */
function nodesWith(
  input: BackendInput,
  family: Family,
  endpoints: readonly ReadyEndpoint[],
  isUsableNode: (node: Node) => boolean = isEligibleNode,
): readonly Address[] {
  const addresses: Address[] = [];
  for (const name of new Set(endpoints.map(({ nodeName }) => nodeName))) {
    const node = name === undefined ? undefined : input.nodes.get(name);
    const address =
      node !== undefined && isUsableNode(node) ? nodeAddress(node, family) : undefined;
    if (address !== undefined) addresses.push(address);
  }
  return addresses;
}

function clusterTarget(
  { backends }: FrontendSpec,
  family: Family,
  port: FrontendPort,
): Target | string {
  for (const text of backends.clusterAddresses) {
    const address = tryParseAddress(text);
    if (address !== undefined && familyOf(address) === family) {
      return { destinations: [at(address, parsePort(port.port))] };
    }
  }
  return `the Service has no cluster address in IPv${family}`;
}

interface ReadyEndpoint {
  readonly address: Address;
  readonly port: Port;
  readonly nodeName: string | undefined;
  readonly isPod: boolean;
  /** The name of the pod. */
  readonly pod: string | undefined;
}

/** Ready endpoints; if there are none, terminating ones that still serve, like kube-proxy. */
function readyEndpoints(input: BackendInput, family: Family, port: FrontendPort): ReadyEndpoint[] {
  const ready = reallyReady(input, family, port);
  return ready.length > 0 ? ready : drainingEndpoints(input, family, port);
}

function drainingEndpoints(
  input: BackendInput,
  family: Family,
  port: FrontendPort,
): ReadyEndpoint[] {
  return endpointsWhere(
    input,
    family,
    port,
    ({ conditions }) => conditions?.terminating === true && conditions.serving === true,
  );
}

/**
 * Endpoints that keep their connections as long as they are listed. A pod that is not ready or terminates may still have
 * running TCP and SCTP connections, for example if it fails its readiness probe to get no new ones. A UDP flow has no
 * end, and moves when its endpoint no longer serves.
 */
function leavingEndpoints(
  input: BackendInput,
  family: Family,
  port: FrontendPort,
): ReadyEndpoint[] {
  if (port.protocol === 'UDP') return drainingEndpoints(input, family, port);
  return endpointsWhere(input, family, port, () => true);
}

function reallyReady(input: BackendInput, family: Family, port: FrontendPort): ReadyEndpoint[] {
  const publishAll = input.spec.backends.includesNotReady;
  return endpointsWhere(
    input,
    family,
    port,
    ({ conditions }) => publishAll || conditions?.ready !== false,
  );
}

function endpointsWhere(
  input: BackendInput,
  family: Family,
  port: FrontendPort,
  isWanted: (endpoint: Endpoint) => boolean,
): ReadyEndpoint[] {
  const found = new Map<string, ReadyEndpoint>();
  for (const slice of input.slices) {
    if (slice.addressType !== `IPv${family}`) continue;
    const number = slicePort(slice, port);
    if (number === undefined) continue;
    for (const endpoint of slice.endpoints ?? []) {
      const address = tryParseAddress(endpoint.addresses[0] ?? '');
      if (address === undefined || familyOf(address) !== family || !isWanted(endpoint)) continue;
      // An endpoint can be in two slices while it moves between them.
      found.set(`${address} ${number}`, {
        address,
        port: number,
        nodeName: endpoint.nodeName,
        isPod: endpoint.targetRef?.kind === 'Pod',
        pod: endpoint.targetRef?.kind === 'Pod' ? endpoint.targetRef.name : undefined,
      });
    }
  }
  return [...found.values()];
}

/** Kubernetes matches the ports of Services and endpoints by name. */
function slicePort(slice: EndpointSlice, port: FrontendPort): Port | undefined {
  const match = (slice.ports ?? []).find(
    ({ name, protocol }) => (name ?? '') === port.name && (protocol ?? 'TCP') === port.protocol,
  );
  // The API server accepts any number in a slice that is written by hand.
  return match?.port === undefined || match.port < 1 || match.port > 65_535
    ? undefined
    : parsePort(match.port);
}

export function isIdle({ annotations }: FrontendSpec): boolean {
  return annotations[idledAnnotation] !== undefined;
}

/** The API server has validated them. It accepts host bits, which have no effect, and leading zeros. */
function sourceRanges({ policy }: FrontendSpec): Prefix[] {
  return policy.sourceRanges.map((text) => {
    const { address, length } = parseInterface(withoutLeadingZeros(text.trim()));
    return prefixOf(address, length);
  });
}

function at(address: Address, port: Port, weight = 1): Destination {
  return { address, port, weight };
}
