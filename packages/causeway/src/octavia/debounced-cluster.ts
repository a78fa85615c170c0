import type { Clock } from '@causeway/base/time/clock';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { ClusterView } from '../services/cluster-view.ts';
import { Debounce } from './debounce.ts';

/** The debounce key for nodes; no Service has such a key. */
const nodesKey = 'nodes';

export interface DebouncedClusterOptions {
  readonly cluster: Pick<
    ClusterView,
    'slicesOf' | 'allNodes' | 'onChange' | 'whenSynced' | 'readiness' | 'run'
  >;
  readonly clock: Clock;
  /** The time without a change before a change counts. */
  readonly quietMs: number;
}

export interface ClusterListener {
  /** Whether changes of the endpoints are debounced. The first endpoints count immediately. */
  readonly isServed: (key: string) => boolean;
  readonly endpointsChanged: (key: string) => void;
  readonly nodesChanged: () => void;
}

/**
 * Endpoints and nodes as they were before the current change. A Service is reconciled for many reasons,
 * including the controller's own writes. If each reconcile used the current state, a rollout would be written
 * in pieces despite the debounce.
 */
export class DebouncedCluster {
  readonly #cluster: DebouncedClusterOptions['cluster'];
  readonly #debounce: Debounce;
  readonly #slices = new Map<string, readonly EndpointSlice[]>();
  #nodes: readonly Node[] | undefined;

  constructor({ cluster, clock, quietMs }: DebouncedClusterOptions) {
    this.#cluster = cluster;
    this.#debounce = new Debounce({ clock, quietMs, longestMs: 5 * quietMs });
  }

  readiness(): string | undefined {
    return this.#cluster.readiness();
  }

  whenSynced(owners: { readonly synced: Promise<void> }, signal: AbortSignal): Promise<void> {
    return this.#cluster.whenSynced(owners, signal);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#cluster.run(signal);
  }

  slicesOf(key: string): readonly EndpointSlice[] {
    const before = this.#debounce.isWaiting(key) ? this.#slices.get(key) : undefined;
    const slices = before ?? this.#cluster.slicesOf(key);
    this.#slices.set(key, slices);
    return slices;
  }

  /** The current endpoints, also during a change. */
  currentSlicesOf(key: string): readonly EndpointSlice[] {
    return this.#cluster.slicesOf(key);
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

  /** Returns a function that removes the listener and drops its waiting changes. */
  onChange({ isServed, endpointsChanged, nodesChanged }: ClusterListener): () => void {
    const stop = this.#cluster.onChange(
      (key) => {
        if (isServed(key)) this.#debounce.after(key, () => endpointsChanged(key));
        else endpointsChanged(key);
      },
      () => this.#debounce.after(nodesKey, nodesChanged),
    );
    return () => {
      stop();
      this.#debounce.stop();
    };
  }
}
