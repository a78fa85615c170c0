import type { KubeClient } from '../../kube/client.ts';
import type { Node } from '../../kube/core-objects.ts';
import { Reflector } from '../../kube/reflector.ts';
import { nodes } from '../../kube/resources.ts';
import { Store } from '../../kube/store.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { slimNode } from '../gateway/nodes.ts';

export interface NodeViewOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The cluster's nodes, followed. */
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
