import type { Address } from '@causeway/base/address/address';
import {
  endpointKey,
  parseEndpointKey,
  sameEndpoint,
  type Endpoint,
  type EndpointKey,
} from '../protocol/endpoint.ts';
import {
  policyKey,
  type Assignment,
  type Policy,
  type PolicyId,
  type PolicyKey,
} from '../protocol/policy.ts';
import { formatAssignment, formatPolicy } from '../protocol/records.ts';
import type { DeltaContent, StateContent } from '../protocol/write-update.ts';
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
  readonly #endpoints = new StampedMap<EndpointKey, Endpoint>(sameEndpoint);
  readonly #nodes = new StampedMap<Address, Address>(() => true);
  readonly #policies = new StampedMap<PolicyKey, Policy>(sameText(formatPolicy));
  readonly #assignments = new StampedMap<Address, Assignment>(sameText(formatAssignment));
  /** A Service has few endpoints: a list takes a quarter of the memory of a map. */
  readonly #byService = new Map<string, readonly Endpoint[]>();
  /**
   * The Services that want an endpoint. Two can for a moment, if a cloud assigns a lost port's address again.
   */
  readonly #claimants = new SmallSets<EndpointKey, string>();
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
   * Sets the endpoints of a Service. Returns the generation that has them, an older one if nothing changes.
   */
  setService(service: string, endpoints: readonly Endpoint[]): number {
    const before = this.#byService.get(service) ?? [];
    const after = new Map(endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]));
    const next = this.#generation + 1;
    let changed = false;
    for (const key of before.map(endpointKey)) {
      if (after.has(key)) continue;
      const heir = this.#leave(key, service);
      if (!this.#isOf(key, service)) continue;
      changed = this.#endpoints.set(key, heir, next) || changed;
    }
    const held: Endpoint[] = [];
    for (const [key, endpoint] of after) {
      this.#claimants.add(key, service);
      changed = this.#endpoints.set(key, endpoint, next) || changed;
      // An unchanged endpoint keeps its object, so the new one can be freed.
      held.push(this.#endpoints.get(key) ?? endpoint);
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
      endpoints: this.#endpoints.values(),
      nodes: [...this.#nodes.values()].map((address) => ({ address })),
      policies: this.#policies.values(),
      assignments: this.#assignments.values(),
    };
  }

  since(base: number): DeltaContent {
    const endpoints = this.#endpoints.since(base);
    const nodes = this.#nodes.since(base);
    const policies = this.#policies.since(base);
    const assignments = this.#assignments.since(base);
    return {
      endpoints: endpoints.values,
      removedEndpoints: endpoints.removed.map(parseEndpointKey),
      nodes: nodes.values.map((address) => ({ address })),
      removedNodes: nodes.removed,
      policies: policies.values,
      removedPolicies: policies.removed.map(parsePolicyKey),
      assignments: assignments.values,
      removedAssignments: assignments.removed,
    };
  }

  /** The endpoints in a delta from this generation. */
  endpointsSince(base: number): ReadonlySet<EndpointKey> {
    const { values, removed } = this.#endpoints.since(base);
    return new Set([...values.map(endpointKey), ...removed]);
  }

  /** The Service of the endpoint, as `namespace/name`. */
  serviceOf(key: EndpointKey): string | undefined {
    return this.#endpoints.get(key)?.service;
  }

  wants(key: EndpointKey): boolean {
    return this.#endpoints.get(key) !== undefined;
  }

  /** Drops removals up to this generation, which every gateway has confirmed. */
  forgetRemoved(upTo: number): void {
    if (upTo <= this.#forgottenUpTo) return;
    for (const map of [this.#endpoints, this.#nodes, this.#policies, this.#assignments]) {
      map.forgetRemoved(upTo);
    }
    this.#forgottenUpTo = upTo;
  }

  /** Another Service may have taken the endpoint since. */
  #isOf(key: EndpointKey, service: string): boolean {
    return this.#endpoints.get(key)?.service === service;
  }

  /** Removes the Service's claim on the endpoint. Returns the endpoint of another claimant, if any. */
  #leave(key: EndpointKey, service: string): Endpoint | undefined {
    this.#claimants.delete(key, service);
    const [heir] = this.#claimants.of(key);
    if (heir === undefined) return undefined;
    return this.#byService.get(heir)?.find((endpoint) => endpointKey(endpoint) === key);
  }

  #newestOf(keys: Iterable<EndpointKey>): number {
    let newest = 0;
    for (const key of keys) newest = Math.max(newest, this.#endpoints.stampOf(key));
    return newest;
  }
}

function sameText<Value>(format: (value: Value) => unknown) {
  return (left: Value, right: Value) =>
    left === right || JSON.stringify(format(left)) === JSON.stringify(format(right));
}

function parsePolicyKey(key: PolicyKey): PolicyId {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
