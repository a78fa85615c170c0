import type { Address } from '@causeway/base/address/address';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { endpointSlices, nodes } from '@causeway/kubernetes/objects/resources';
import { Store, whenSynced } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise } from '@causeway/base/work/supervisor';
import type { NodeLookup } from './nodes.ts';
import { eligibleAddresses, slimNode } from './nodes.ts';

/** Objects watched together with nodes and EndpointSlices. */
export interface WatchedObjects {
  readiness(): string | undefined;
  whenSynced(signal: AbortSignal): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export interface ClusterViewOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Watched if the gateways enforce network policies. */
  readonly policies?: WatchedObjects | undefined;
}

const serviceLabel = 'kubernetes.io/service-name';

/** The Service that a slice belongs to, as `namespace/name`. */
function serviceOf(slice: EndpointSlice): string | undefined {
  const name = slice.metadata?.labels?.[serviceLabel];
  return name === undefined ? undefined : `${slice.metadata?.namespace}/${name}`;
}

/** The cluster objects behind Services: EndpointSlices and nodes. */
export class ClusterView {
  readonly #policies: WatchedObjects | undefined;
  readonly #slices: Store<EndpointSlice, 'service'>;
  readonly #nodes: Store<Node>;
  readonly #sliceReflector: Reflector<EndpointSlice, EndpointSlice, 'service'>;
  readonly #nodeReflector: Reflector<Node, Node>;

  constructor(options: ClusterViewOptions) {
    const { log } = options;
    this.#policies = options.policies;
    this.#slices = new Store<EndpointSlice, 'service'>({
      log,
      indexes: {
        service: (slice) => {
          const key = serviceOf(slice);
          return key === undefined ? [] : [key];
        },
      },
    });
    this.#nodes = new Store<Node>({ log });
    this.#sliceReflector = new Reflector({
      ...options,
      resource: endpointSlices,
      store: this.#slices,
      projection: withSlimMetadata,
    });
    this.#nodeReflector = new Reflector({
      ...options,
      resource: nodes,
      store: this.#nodes,
      projection: slimNode,
    });
  }

  readiness(): string | undefined {
    return (
      this.#sliceReflector.readiness() ??
      this.#nodeReflector.readiness() ??
      this.#policies?.readiness()
    );
  }

  slicesOf(service: string): readonly EndpointSlice[] {
    return this.#slices.byIndex('service', service);
  }

  /** Nodes by name. */
  get nodes(): NodeLookup {
    return this.#nodes;
  }

  allNodes(): Iterable<Node> {
    return this.#nodes.values();
  }

  nodeAddresses(): readonly Address[] {
    return eligibleAddresses(this.#nodes.values());
  }

  async whenSynced(owners: { readonly synced: Promise<void> }, signal: AbortSignal): Promise<void> {
    await whenSynced([owners, this.#slices, this.#nodes], signal);
    await this.#policies?.whenSynced(signal);
  }

  /** Calls `endpoints` with the Service of a changed EndpointSlice, and `nodesChanged` when nodes change. */
  onChange(endpoints: (service: string) => void, nodesChanged: () => void): () => void {
    const stops = [
      this.#slices.onChange((change) => {
        const slices = change.type === 'deleted' ? [change.before] : [change.after];
        if (change.type === 'updated') slices.push(change.before);
        for (const slice of slices) {
          const service = serviceOf(slice);
          if (service !== undefined) endpoints(service);
        }
      }),
      this.#nodes.onChange(nodesChanged),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const policies = this.#policies;
    await supervise(signal, {
      ...(policies === undefined ? {} : { policies: (inner) => policies.run(inner) }),
      'endpoint slices reflector': (inner) => this.#sliceReflector.run(inner),
      'nodes reflector': (inner) => this.#nodeReflector.run(inner),
    });
  }
}
