import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { Debounce } from './debounce.ts';

/** What Debounce waits for when nodes come and go; no Service has such a key. */
export const nodesKey = 'nodes';

/** Endpoints and nodes as they are known now. */
export interface ChangingCluster {
  slicesOf(key: string): readonly EndpointSlice[];
  allNodes(): Iterable<Node>;
}

/**
 * Endpoints and nodes as they were before they began to change. A Service is looked at for many reasons,
 * our own writes among them: if each look took what is there at that moment, a rollout would be
 * written piece by piece in spite of all waiting.
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

  /** The Service is gone. */
  forget(key: string): void {
    this.#slices.delete(key);
  }
}
