import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { Debounce } from './debounce.ts';

/** The debounce key for nodes; no Service has such a key. */
export const nodesKey = 'nodes';

/** The current endpoints and nodes. */
export interface ChangingCluster {
  slicesOf(key: string): readonly EndpointSlice[];
  allNodes(): Iterable<Node>;
}

/**
 * Endpoints and nodes as they were before the current change. A Service is reconciled for many reasons,
 * including the controller's own writes. If each reconcile used the current state, a rollout would be written
 * in pieces despite the debounce.
 */
export class DebouncedCluster {
  readonly #cluster: ChangingCluster;
  readonly #debounce: Debounce;
  readonly #slices = new Map<string, readonly EndpointSlice[]>();
  #nodes: readonly Node[] | undefined;

  constructor(cluster: ChangingCluster, debounce: Debounce) {
    this.#cluster = cluster;
    this.#debounce = debounce;
  }

  slicesOf(key: string): readonly EndpointSlice[] {
    const before = this.#debounce.isWaiting(key) ? this.#slices.get(key) : undefined;
    const slices = before ?? this.#cluster.slicesOf(key);
    this.#slices.set(key, slices);
    return slices;
  }

  nodes(): readonly Node[] {
    if (this.#nodes === undefined || !this.#debounce.isWaiting(nodesKey)) {
      this.#nodes = [...this.#cluster.allNodes()];
    }
    return this.#nodes;
  }

  /** The Service was deleted. */
  drop(key: string): void {
    this.#slices.delete(key);
  }
}
