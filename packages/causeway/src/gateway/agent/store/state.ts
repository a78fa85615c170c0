import type { Address } from '@causeway/base/address/address';
import type { Endpoint, EndpointKey } from '../../protocol/endpoint.ts';
import type { GatewayNode } from '../../protocol/node.ts';
import type { Assignment, Policy, PolicyKey } from '../../protocol/policy.ts';

/** Why an endpoint is served from an older push than the newest one. */
export interface Kept {
  /** The push that what is served came with. */
  readonly generation: number;
  readonly reason: string;
  /** The newest update removes it, and the guard withholds that removal until it is confirmed. */
  readonly isWithheld?: boolean;
}

/** Everything a gateway has been told to serve. Changed only by committing a {@link Change}. */
export interface GatewayState {
  /** The newest push that was accepted. Only a larger number can follow. */
  readonly generation: number;
  /** The digest of that push, so that a repeated request is known from a different one. */
  readonly digest: string;
  /** The UID of the cluster that the gateway serves; undefined until a controller has sent one. */
  readonly cluster?: string | undefined;
  readonly endpoints: ReadonlyMap<EndpointKey, Endpoint>;
  readonly policies: ReadonlyMap<PolicyKey, Policy>;
  readonly assignments: ReadonlyMap<Address, Assignment>;
  /** The nodes that endpoints with a node port are spread over. */
  readonly nodes: ReadonlyMap<Address, GatewayNode>;
  readonly kept: ReadonlyMap<EndpointKey, Kept>;
}

/** For each key its new value, or undefined where it goes away. Keys that stay as they are don't appear. */
export type Edits<Key, Value> = ReadonlyMap<Key, Value | undefined>;

/** The step from one state to the next. Its size is that of the change, whatever the state's. */
export interface Change {
  readonly generation: number;
  readonly digest: string;
  /** The cluster that the gateway serves from now on; the same as before where it is left out. */
  readonly cluster?: string | undefined;
  readonly endpoints: Edits<EndpointKey, Endpoint>;
  readonly policies: Edits<PolicyKey, Policy>;
  readonly assignments: Edits<Address, Assignment>;
  readonly nodes: Edits<Address, GatewayNode>;
  readonly kept: Edits<EndpointKey, Kept>;
}

export const emptyState: GatewayState = {
  generation: 0,
  digest: '',
  endpoints: new Map(),
  policies: new Map(),
  assignments: new Map(),
  nodes: new Map(),
  kept: new Map(),
};

/** Whether anything that packets could notice is different. */
export function changesTraffic(change: Change): boolean {
  return (
    change.endpoints.size > 0 ||
    change.policies.size > 0 ||
    change.assignments.size > 0 ||
    change.nodes.size > 0
  );
}

/** The change that leads back, under a generation of its own so that it is nobody's base. */
export function inverseOf(state: GatewayState, change: Change, generation: number): Change {
  return {
    generation,
    digest: '',
    endpoints: inverseEdits(state.endpoints, change.endpoints),
    policies: inverseEdits(state.policies, change.policies),
    assignments: inverseEdits(state.assignments, change.assignments),
    nodes: inverseEdits(state.nodes, change.nodes),
    kept: inverseEdits(state.kept, change.kept),
  };
}

function inverseEdits<Key, Value>(
  before: ReadonlyMap<Key, Value>,
  edits: Edits<Key, Value>,
): Edits<Key, Value> {
  return new Map([...edits.keys()].map((key) => [key, before.get(key)]));
}

/** A map as it will be after the edits, without copying it. */
export class Edited<Key, Value> {
  readonly #before: ReadonlyMap<Key, Value>;
  readonly #edits: Edits<Key, Value>;

  constructor(before: ReadonlyMap<Key, Value>, edits: Edits<Key, Value>) {
    this.#before = before;
    this.#edits = edits;
  }

  get(key: Key): Value | undefined {
    return this.#edits.has(key) ? this.#edits.get(key) : this.#before.get(key);
  }

  *values(): Generator<Value> {
    for (const [key, value] of this.#before) if (!this.#edits.has(key)) yield value;
    for (const value of this.#edits.values()) if (value !== undefined) yield value;
  }
}

/** The state in memory. Reading it is free; `commit` is the only way it ever changes. */
export class StateHolder {
  #state: MutableState = {
    ...emptyState,
    endpoints: new Map(),
    policies: new Map(),
    assignments: new Map(),
    nodes: new Map(),
    kept: new Map(),
  };

  get current(): GatewayState {
    return this.#state;
  }

  commit(change: Change): void {
    applyEdits(this.#state.endpoints, change.endpoints);
    applyEdits(this.#state.policies, change.policies);
    applyEdits(this.#state.assignments, change.assignments);
    applyEdits(this.#state.nodes, change.nodes);
    applyEdits(this.#state.kept, change.kept);
    // Whatever the change says: what is not served is not served from an older push either.
    for (const [key, endpoint] of change.endpoints) {
      if (endpoint === undefined) this.#state.kept.delete(key);
    }
    this.#state.generation = change.generation;
    this.#state.digest = change.digest;
    if (change.cluster !== undefined) this.#state.cluster = change.cluster;
  }
}

interface MutableState {
  generation: number;
  digest: string;
  cluster?: string | undefined;
  readonly endpoints: Map<EndpointKey, Endpoint>;
  readonly policies: Map<PolicyKey, Policy>;
  readonly assignments: Map<Address, Assignment>;
  readonly nodes: Map<Address, GatewayNode>;
  readonly kept: Map<EndpointKey, Kept>;
}

function applyEdits<Key, Value>(map: Map<Key, Value>, edits: Edits<Key, Value>): void {
  for (const [key, value] of edits) {
    if (value === undefined) map.delete(key);
    else map.set(key, value);
  }
}
