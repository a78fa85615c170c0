import { familyOf, type Address } from '@causeway/base/address/address';
import {
  frontendKey,
  parseFrontendKey,
  sameFrontend,
  type Frontend,
  type FrontendKey,
} from '../../protocol/frontend.ts';
import {
  policyKey,
  type Assignment,
  type Policy,
  type PolicyId,
  type PolicyKey,
} from '../../protocol/policy.ts';
import { formatAssignment, formatPolicy } from '../../protocol/records.ts';
import {
  writeDelta,
  writeState,
  type DeltaContent,
  type StateContent,
  type UpdateOptions,
} from '../../protocol/write-update.ts';
import { SmallSets } from '@causeway/base/work/small-sets';
import { StampedMap } from './stamped-map.ts';

/** The network policies of one namespace, and the pods that they apply to. */
export interface NamespacePolicies {
  readonly policies: readonly Policy[];
  readonly assignments: readonly Assignment[];
}

/**
 * The desired state of all gateways, each part with the generation of its last change. A gateway that has
 * confirmed generation B lacks exactly the parts changed after B. So a push costs only the changes, and no
 * history is kept for a gateway.
 */
export class DesiredState {
  readonly #frontends = new StampedMap<FrontendKey, Frontend>(sameFrontend);
  readonly #nodes = new StampedMap<Address, Address>(() => true);
  readonly #policies = new StampedMap<PolicyKey, Policy>(sameText(formatPolicy));
  readonly #assignments = new StampedMap<Address, Assignment>(sameText(formatAssignment));
  /** A Service has few frontends: a list takes a quarter of the memory of a map. */
  readonly #byService = new Map<string, readonly Frontend[]>();
  /**
   * The Services that want a frontend. Two can for a moment, if a cloud assigns a lost port's address again.
   */
  readonly #owners = new SmallSets<FrontendKey, string>();
  /** The records of each namespace, to find removed ones. */
  readonly #byNamespace = new Map<string, NamespacePolicies>();
  #generation: number;
  /** Removals up to this generation may be dropped: an older gateway needs the full state. */
  #forgottenUpTo: number;

  constructor(firstGeneration = 0) {
    this.#generation = firstGeneration;
    this.#forgottenUpTo = firstGeneration;
  }

  /** Starts with this generation, which is above every generation that a gateway may have seen. */
  startAt(generation: number): void {
    this.#generation = generation;
    this.#forgottenUpTo = generation;
  }

  get generation(): number {
    return this.#generation;
  }

  /**
   * Sets the frontends of a Service. Returns the generation that has them, an older one if nothing changes.
   */
  setService(service: string, frontends: readonly Frontend[]): number {
    const before = this.#byService.get(service) ?? [];
    const after = new Map(frontends.map((frontend) => [frontendKey(frontend), frontend]));
    const next = this.#generation + 1;
    let changed = false;
    for (const key of before.map(frontendKey)) {
      if (after.has(key)) continue;
      const heir = this.#leave(key, service);
      if (!this.#isOf(key, service)) continue;
      changed = this.#frontends.set(key, heir, next) || changed;
    }
    const held: Frontend[] = [];
    for (const [key, frontend] of after) {
      this.#owners.add(key, service);
      changed = this.#frontends.set(key, frontend, next) || changed;
      // An unchanged frontend keeps its object, so the new one can be freed.
      held.push(this.#frontends.get(key) ?? frontend);
    }
    if (held.length === 0) this.#byService.delete(service);
    else this.#byService.set(service, held);
    if (changed) this.#generation = next;
    return changed ? next : this.#newestOf(after.keys());
  }

  setNodes(addresses: readonly Address[]): void {
    const wanted = new Set(addresses);
    const next = this.#generation + 1;
    let changed = false;
    for (const address of [...this.#nodes.keys()]) {
      if (!wanted.has(address)) changed = this.#nodes.set(address, undefined, next) || changed;
    }
    for (const address of wanted) changed = this.#nodes.set(address, address, next) || changed;
    if (changed) this.#generation = next;
  }

  /** Sets the policies of a namespace and the pods that they apply to. */
  setPolicies(namespace: string, wanted: NamespacePolicies): void {
    const before = this.#byNamespace.get(namespace);
    const next = this.#generation + 1;
    const keys = new Set(wanted.policies.map(policyKey));
    const addresses = new Set(wanted.assignments.map(({ address }) => address));
    let changed = false;
    for (const key of (before?.policies ?? []).map(policyKey)) {
      if (!keys.has(key)) changed = this.#policies.set(key, undefined, next) || changed;
    }
    for (const { address } of before?.assignments ?? []) {
      // The address may belong to a pod of another namespace now.
      const isOurs = this.#assignments.get(address)?.policies[0]?.startsWith(`${namespace}/`);
      if (addresses.has(address) || isOurs !== true) continue;
      changed = this.#assignments.set(address, undefined, next) || changed;
    }
    for (const policy of wanted.policies) {
      changed = this.#policies.set(policyKey(policy), policy, next) || changed;
    }
    for (const assignment of wanted.assignments) {
      changed = this.#assignments.set(assignment.address, assignment, next) || changed;
    }
    this.#byNamespace.set(namespace, wanted);
    if (changed) this.#generation = next;
  }

  /** A gateway has this generation from another source: the next update must be newer. */
  goBeyond(generation: number): void {
    this.#generation = Math.max(this.#generation, generation + 1);
  }

  /** Whether a gateway that has confirmed this generation can get a delta. */
  canStartFrom(generation: number): boolean {
    return generation >= this.#forgottenUpTo && generation <= this.#generation;
  }

  all(): StateContent {
    return {
      frontends: this.#frontends.values(),
      nodes: [...this.#nodes.values()].map((address) => ({ address })),
      policies: this.#policies.values(),
      assignments: this.#assignments.values(),
    };
  }

  since(base: number): DeltaContent {
    const frontends = this.#frontends.since(base);
    const nodes = this.#nodes.since(base);
    const policies = this.#policies.since(base);
    const assignments = this.#assignments.since(base);
    return {
      frontends: frontends.values,
      removedFrontends: frontends.removed.map(parseFrontendKey),
      nodes: nodes.values.map((address) => ({ address })),
      removedNodes: nodes.removed,
      policies: policies.values,
      removedPolicies: policies.removed.map(parsePolicyKey),
      assignments: assignments.values,
      removedAssignments: assignments.removed,
    };
  }

  /** The frontends in a delta from this generation. */
  frontendsSince(base: number): ReadonlySet<FrontendKey> {
    const { values, removed } = this.#frontends.since(base);
    return new Set([...values.map(frontendKey), ...removed]);
  }

  /** The frontends with backends that may change by an update from this generation. */
  movedSince(base: number): ReadonlySet<FrontendKey> {
    const { values, removed } = this.#nodes.since(base);
    const isSame = values.length === 0 && removed.length === 0;
    const all = isSame ? [] : [...this.#frontends.values()];
    const onNodes = all.filter(({ nodePort }) => nodePort !== undefined);
    return this.frontendsSince(base).union(new Set(onNodes.map(frontendKey)));
  }

  /** The Services with a frontend that changed after the generation. */
  servicesSince(base: number): ReadonlySet<string> {
    const { values } = this.#frontends.since(base);
    return new Set(values.flatMap(({ service }) => service ?? []));
  }

  /** The Services with backends, all of which have one of these addresses. */
  servicesOnlyAt(addresses: ReadonlySet<Address>): ReadonlySet<string> {
    const nodes = [...this.#nodes.keys()];
    const found = new Set<string>();
    for (const [service, frontends] of this.#byService) {
      const backends = frontends.map((frontend) => backendsOf(frontend, nodes));
      const isConcerned = backends.some((each) => each.length > 0);
      const areAll = backends.every((each) => each.every((address) => addresses.has(address)));
      if (isConcerned && areAll) found.add(service);
    }
    return found;
  }

  /** The Service of the frontend, as `namespace/name`. */
  serviceOf(key: FrontendKey): string | undefined {
    return this.#frontends.get(key)?.service;
  }

  wants(key: FrontendKey): boolean {
    return this.#frontends.get(key) !== undefined;
  }

  /** Drops removals up to this generation, which every gateway has confirmed. */
  forgetRemoved(upTo: number): void {
    if (upTo <= this.#forgottenUpTo) return;
    for (const map of [this.#frontends, this.#nodes, this.#policies, this.#assignments]) {
      map.forgetRemoved(upTo);
    }
    this.#forgottenUpTo = upTo;
  }

  /** Another Service may have taken the frontend since. */
  #isOf(key: FrontendKey, service: string): boolean {
    return this.#frontends.get(key)?.service === service;
  }

  /** Removes the Service as an owner of the frontend. Returns the frontend of another owner, if any. */
  #leave(key: FrontendKey, service: string): Frontend | undefined {
    this.#owners.delete(key, service);
    const [heir] = this.#owners.of(key);
    if (heir === undefined) return undefined;
    return this.#byService.get(heir)?.find((frontend) => frontendKey(frontend) === key);
  }

  #newestOf(keys: Iterable<FrontendKey>): number {
    let newest = 0;
    for (const key of keys) newest = Math.max(newest, this.#frontends.stampOf(key));
    return newest;
  }
}

/** The lines of an update from this generation, or of the full state. */
export function updateLines(
  state: DesiredState,
  base: number | undefined,
  options: UpdateOptions,
): Iterable<string> {
  return base === undefined
    ? writeState(state.all(), options)
    : writeDelta(state.since(base), { ...options, base });
}

/** The addresses of the backends that get new connections. */
function backendsOf(frontend: Frontend, nodes: readonly Address[]): readonly Address[] {
  const { address, destinations, nodePort, routedTo } = frontend;
  if (routedTo !== undefined && routedTo !== 'nodes') return routedTo;
  if (routedTo === undefined && nodePort === undefined) {
    return destinations.filter(({ weight }) => weight > 0).map((each) => each.address);
  }
  return nodes.filter((node) => familyOf(node) === familyOf(address));
}

function sameText<Value>(format: (value: Value) => unknown) {
  return (left: Value, right: Value) =>
    left === right || JSON.stringify(format(left)) === JSON.stringify(format(right));
}

function parsePolicyKey(key: PolicyKey): PolicyId {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
