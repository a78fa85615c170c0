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
import type { GuardReporter } from './guard-register.ts';
import { keepEndpoints } from './kept-endpoints.ts';
import { NodeGuard } from './node-guard.ts';
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
  /** Takes the report of the guard against a mass loss of nodes. */
  readonly guards?: GuardReporter | undefined;
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
  readonly #guard: NodeGuard;
  readonly #listeners = new Set<() => void>();

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
    this.#guard = new NodeGuard(options.clock, () => {
      options.guards?.report('nodes', this.#guard.report);
      for (const listener of this.#listeners) listener();
    });
    this.#nodes.onChange((change) =>
      this.#guard.set(change.key, change.type === 'deleted' ? undefined : change.after),
    );
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

  /** The slices of a Service. Endpoints on nodes that the guard keeps can count as ready. */
  slicesOf(service: string): readonly EndpointSlice[] {
    const slices = this.#slices.byIndex('service', service);
    if (this.#guard.report === undefined) return slices;
    return keepEndpoints(slices, ({ nodeName = '' }) => this.#guard.isKept(nodeName));
  }

  /** Nodes by name. Nodes that the guard keeps count as ready. */
  get nodes(): NodeLookup {
    return this.#guard;
  }

  allNodes(): Iterable<Node> {
    return this.#guard.values();
  }

  /** The addresses of the nodes that can receive traffic. `decidesByProbes` includes nodes that are not ready. */
  nodeAddresses(decidesByProbes = false): readonly Address[] {
    return eligibleAddresses(this.#guard.values(), decidesByProbes);
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
    // The guard changes what the slices of all Services mean.
    const guardChanged = () => {
      nodesChanged();
      const services = [...this.#slices.values()].flatMap((slice) => serviceOf(slice) ?? []);
      for (const service of new Set(services)) endpoints(service);
    };
    this.#listeners.add(guardChanged);
    return () => {
      this.#listeners.delete(guardChanged);
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
