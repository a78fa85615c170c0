import type { Address } from '../../domain/address.ts';
import {
  endpointKey,
  parseEndpointKey,
  sameEndpoint,
  type Endpoint,
  type EndpointKey,
} from '../../agent/model/endpoint.ts';
import type { DeltaContent, StateContent } from '../../agent/wire/write-push.ts';

interface Stamped<Value> {
  /** Undefined where it is gone: kept until every gateway knows. */
  readonly value: Value | undefined;
  readonly generation: number;
}

/**
 * What all gateways are to serve, each part with the generation in which it last changed. What a
 * gateway lacks that has confirmed generation B is then everything stamped later than B, so a push
 * costs what has changed and no history is kept for anybody.
 */
export class WantedState {
  readonly #endpoints = new Map<EndpointKey, Stamped<Endpoint>>();
  readonly #nodes = new Map<Address, Stamped<Address>>();
  readonly #byService = new Map<string, Set<EndpointKey>>();
  #generation: number;
  /** What was removed up to here may be forgotten already: a gateway that is older needs all. */
  #forgottenUpTo: number;

  /** Starts beyond every generation that a gateway may have seen. */
  constructor(firstGeneration: number) {
    this.#generation = firstGeneration;
    this.#forgottenUpTo = firstGeneration;
  }

  get generation(): number {
    return this.#generation;
  }

  /**
   * Makes these the endpoints of a Service. Answers with the generation that has them, which is an
   * older one when nothing is different.
   */
  setService(service: string, endpoints: readonly Endpoint[]): number {
    const before = this.#byService.get(service) ?? new Set<EndpointKey>();
    const after = new Set(endpoints.map(endpointKey));
    const next = this.#generation + 1;
    let changed = false;
    for (const key of before) {
      if (after.has(key) || !this.#isOf(key, service)) continue;
      this.#endpoints.set(key, { value: undefined, generation: next });
      changed = true;
    }
    for (const endpoint of endpoints) {
      const present = this.#endpoints.get(endpointKey(endpoint))?.value;
      if (present !== undefined && sameEndpoint(present, endpoint)) continue;
      this.#endpoints.set(endpointKey(endpoint), { value: endpoint, generation: next });
      changed = true;
    }
    if (after.size === 0) this.#byService.delete(service);
    else this.#byService.set(service, after);
    if (changed) this.#generation = next;
    return changed ? next : this.#newestOf(after);
  }

  setNodes(addresses: readonly Address[]): void {
    const wanted = new Set(addresses);
    const next = this.#generation + 1;
    let changed = false;
    for (const [address, { value }] of this.#nodes) {
      if (value === undefined || wanted.has(address)) continue;
      this.#nodes.set(address, { value: undefined, generation: next });
      changed = true;
    }
    for (const address of wanted) {
      if (this.#nodes.get(address)?.value !== undefined) continue;
      this.#nodes.set(address, { value: address, generation: next });
      changed = true;
    }
    if (changed) this.#generation = next;
  }

  /** Whether a gateway that has confirmed this generation can be sent the difference. */
  canStartFrom(generation: number): boolean {
    return generation >= this.#forgottenUpTo && generation <= this.#generation;
  }

  all(): StateContent {
    return {
      endpoints: present(this.#endpoints.values()),
      nodes: [...present(this.#nodes.values())].map((address) => ({ address })),
      policies: [],
      assignments: [],
    };
  }

  since(base: number): DeltaContent {
    const endpoints = [...this.#endpoints].filter(([, { generation }]) => generation > base);
    const nodes = [...this.#nodes].filter(([, { generation }]) => generation > base);
    return {
      endpoints: present(endpoints.map(([, stamped]) => stamped)),
      removedEndpoints: endpoints
        .filter(([, { value }]) => value === undefined)
        .map(([key]) => parseEndpointKey(key)),
      nodes: [...present(nodes.map(([, stamped]) => stamped))].map((address) => ({ address })),
      removedNodes: nodes
        .filter(([, { value }]) => value === undefined)
        .map(([address]) => address),
      policies: [],
      assignments: [],
      removedPolicies: [],
      removedAssignments: [],
    };
  }

  /** The endpoints that a gateway is told about which has confirmed this generation. */
  endpointsSince(base: number): ReadonlySet<EndpointKey> {
    const changed = new Set<EndpointKey>();
    for (const [key, { generation }] of this.#endpoints) if (generation > base) changed.add(key);
    return changed;
  }

  /** The Service that the endpoint is served for, as `namespace/name`. */
  serviceOf(key: EndpointKey): string | undefined {
    return this.#endpoints.get(key)?.value?.service;
  }

  /** Every gateway has confirmed this generation: what was removed by then needs no mention any more. */
  forgetRemoved(upTo: number): void {
    if (upTo <= this.#forgottenUpTo) return;
    for (const map of [this.#endpoints, this.#nodes] as const) {
      for (const [key, { value, generation }] of map) {
        if (value === undefined && generation <= upTo) (map as Map<unknown, unknown>).delete(key);
      }
    }
    this.#forgottenUpTo = upTo;
  }

  /** Another Service may have taken over the endpoint since. */
  #isOf(key: EndpointKey, service: string): boolean {
    return this.#endpoints.get(key)?.value?.service === service;
  }

  #newestOf(keys: ReadonlySet<EndpointKey>): number {
    let newest = 0;
    for (const key of keys) newest = Math.max(newest, this.#endpoints.get(key)?.generation ?? 0);
    return newest;
  }
}

function* present<Value>(all: Iterable<Stamped<Value>>): Generator<Value> {
  for (const { value } of all) if (value !== undefined) yield value;
}
