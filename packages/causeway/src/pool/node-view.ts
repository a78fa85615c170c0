import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { nodes } from '@causeway/kubernetes/objects/resources';
import { Store } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { GuardReporter } from '../services/guard-register.ts';
import { NodeGuard } from '../services/node-guard.ts';
import { slimNode } from '../services/nodes.ts';

export interface NodeViewOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Takes the report of the guard against a mass loss of nodes. */
  readonly guards?: GuardReporter | undefined;
}

/** Watches the nodes of the cluster. Nodes that the guard keeps count as ready. */
export class NodeView {
  readonly #store: Store<Node>;
  readonly #reflector: Reflector<Node, Node>;
  readonly #guard: NodeGuard;
  readonly #listeners = new Set<() => void>();

  constructor(options: NodeViewOptions) {
    this.#store = new Store<Node>({ log: options.log });
    this.#guard = new NodeGuard(options.clock, () => {
      options.guards?.report('nodes', this.#guard.report);
      for (const listener of this.#listeners) listener();
    });
    this.#store.onChange((change) =>
      this.#guard.set(change.key, change.type === 'deleted' ? undefined : change.after),
    );
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
    return this.#guard.values();
  }

  onChange(listener: () => void): () => void {
    const stop = this.#store.onChange(listener);
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      stop();
    };
  }

  readiness(): string | undefined {
    return this.#reflector.readiness();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }
}
