import type { Address } from '@causeway/base/address/address';
import type { Frontend, FrontendKey } from '../../protocol/frontend.ts';
import type { GatewayNode } from '../../protocol/node.ts';
import type { Assignment, Policy, PolicyKey } from '../../protocol/policy.ts';

/** Why a frontend is served from an older update. */
export interface Kept {
  /** The generation of the served record. */
  readonly generation: number;
  readonly reason: string;
  /** The newest update removes it, and the guard withholds the removal until it is confirmed. */
  readonly isWithheld?: boolean;
}

/** The complete accepted configuration of a gateway. Only committing a {@link Change} modifies it. */
export interface GatewayState {
  /** The newest accepted update. The next one must have a larger number. */
  readonly generation: number;
  /** The digest of that update, which distinguishes a repeated request from a different one. */
  readonly digest: string;
  /** The UID of the cluster that the gateway serves; undefined until a controller has sent one. */
  readonly cluster?: string | undefined;
  readonly frontends: ReadonlyMap<FrontendKey, Frontend>;
  readonly policies: ReadonlyMap<PolicyKey, Policy>;
  readonly assignments: ReadonlyMap<Address, Assignment>;
  /** The nodes that frontends with a node port are spread over. */
  readonly nodes: ReadonlyMap<Address, GatewayNode>;
  readonly kept: ReadonlyMap<FrontendKey, Kept>;
}

/** The new value of each changed key, or undefined for a removed one. */
export type Edits<Key, Value> = ReadonlyMap<Key, Value | undefined>;

/** The step from one state to the next. Its size depends on the change, not on the state. */
export interface Change {
  readonly generation: number;
  readonly digest: string;
  /** The cluster that the gateway serves from now on; unchanged if it is left out. */
  readonly cluster?: string | undefined;
  readonly frontends: Edits<FrontendKey, Frontend>;
  readonly policies: Edits<PolicyKey, Policy>;
  readonly assignments: Edits<Address, Assignment>;
  readonly nodes: Edits<Address, GatewayNode>;
  readonly kept: Edits<FrontendKey, Kept>;
}

export const emptyState: GatewayState = {
  generation: 0,
  digest: '',
  frontends: new Map(),
  policies: new Map(),
  assignments: new Map(),
  nodes: new Map(),
  kept: new Map(),
};

/** Whether the change affects packets. */
export function changesTraffic(change: Change): boolean {
  return (
    change.frontends.size > 0 ||
    change.policies.size > 0 ||
    change.assignments.size > 0 ||
    change.nodes.size > 0
  );
}

/** The inverse change. It has its own generation, so that no delta is based on it. */
export function inverseOf(state: GatewayState, change: Change, generation: number): Change {
  return {
    generation,
    digest: '',
    frontends: inverseEdits(state.frontends, change.frontends),
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

/** A view of a map after the edits, without a copy. */
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

/** The state in memory. Only `commit` changes it. */
export class StateHolder {
  #state: MutableState = {
    ...emptyState,
    frontends: new Map(),
    policies: new Map(),
    assignments: new Map(),
    nodes: new Map(),
    kept: new Map(),
  };

  get current(): GatewayState {
    return this.#state;
  }

  commit(change: Change): void {
    applyEdits(this.#state.frontends, change.frontends);
    applyEdits(this.#state.policies, change.policies);
    applyEdits(this.#state.assignments, change.assignments);
    applyEdits(this.#state.nodes, change.nodes);
    applyEdits(this.#state.kept, change.kept);
    // A frontend that is not served has no kept record, whatever the change contains.
    for (const [key, frontend] of change.frontends) {
      if (frontend === undefined) this.#state.kept.delete(key);
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
  readonly frontends: Map<FrontendKey, Frontend>;
  readonly policies: Map<PolicyKey, Policy>;
  readonly assignments: Map<Address, Assignment>;
  readonly nodes: Map<Address, GatewayNode>;
  readonly kept: Map<FrontendKey, Kept>;
}

function applyEdits<Key, Value>(map: Map<Key, Value>, edits: Edits<Key, Value>): void {
  for (const [key, value] of edits) {
    if (value === undefined) map.delete(key);
    else map.set(key, value);
  }
}
