import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { nodes } from '@causeway/kubernetes/objects/resources';
import { Store } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { slimNode } from '../services/nodes.ts';

export interface NodeViewOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Watches the nodes of the cluster. */
export class NodeView {
  readonly #store: Store<Node>;
  readonly #reflector: Reflector<Node, Node>;

  constructor(options: NodeViewOptions) {
    this.#store = new Store<Node>({ log: options.log });
    this.#reflector = new Reflector({
      ...options,
      resource: nodes,
      store: this.#store,
      projection: slimNode,
    });
  }

  get synced(): Promise<void> {
    return this.#store.synced;
  }

  values(): Iterable<Node> {
    return this.#store.values();
  }

  onChange(listener: () => void): () => void {
    return this.#store.onChange(listener);
  }

  readiness(): string | undefined {
    return this.#reflector.readiness();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }
}
