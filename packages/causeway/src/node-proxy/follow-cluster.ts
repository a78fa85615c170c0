import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Node, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { endpointSlices, nodes, services } from '@causeway/kubernetes/objects/resources';
import { Store, whenSynced, type Change } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise } from '@causeway/base/work/supervisor';
import { followedService, followedSlice, proxyNameLabel } from './followed-objects.ts';
import type { ServiceProxy } from './served-service.ts';

export interface ClusterOptions {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly serviceProxyName: string;
  /** Serve Services without the label too. Services of another proxy are never served. */
  readonly servesAll: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const headlessLabel = 'service.kubernetes.io/headless';

/** The cluster objects that a node's proxy follows: Services, their EndpointSlices, and the Node itself. */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #services: Store<Service>;
  readonly #slices: Store<EndpointSlice>;
  readonly nodes: Store<Node>;
  readonly #reflectors;

  constructor(options: ClusterOptions) {
    const { client, clock, log, metrics, nodeName } = options;
    this.#options = options;
    this.#services = new Store<Service>({ log });
    this.#slices = new Store<EndpointSlice>({ log });
    this.nodes = new Store<Node>({ log });
    const common = { client, clock, log, metrics };
    // Slices are not selected by the proxy's name: manually written slices may not have the label.
    const labelSelector = `!${headlessLabel}`;
    this.#reflectors = {
      services: new Reflector<Service, Service>({
        ...common,
        resource: services,
        store: this.#services,
        projection: followedService,
        selection: { labelSelector },
      }),
      'endpoint slices': new Reflector<EndpointSlice, EndpointSlice>({
        ...common,
        resource: endpointSlices,
        store: this.#slices,
        projection: followedSlice,
        selection: { labelSelector },
      }),
      node: new Reflector<Node, Node>({
        ...common,
        resource: nodes,
        store: this.nodes,
        projection: withSlimMetadata,
        selection: { fieldSelector: `metadata.name=${nodeName}` },
      }),
    };
  }

  get node(): Node | undefined {
    return this.nodes.get(this.#options.nodeName);
  }

  /** Undefined when everything is followed, else the problems. */
  readiness(): string | undefined {
    const problems = Object.values(this.#reflectors).map((reflector) => reflector.readiness());
    const found = problems.filter((problem) => problem !== undefined);
    return found.length === 0 ? undefined : found.join('; ');
  }

  run(signal: AbortSignal): Promise<void> {
    return supervise(
      signal,
      Object.fromEntries(
        Object.entries(this.#reflectors).map(([name, reflector]) => [
          name,
          (inner: AbortSignal) => reflector.run(inner),
        ]),
      ),
    );
  }

  /** Sends all objects and each later change to the proxy. */
  async follow(proxy: ServiceProxy, signal: AbortSignal): Promise<void> {
    this.#services.onChange((change) => this.#passService(proxy, change));
    this.#slices.onChange((change) => {
      if (change.type === 'deleted') proxy.removeSlice(change.key);
      else proxy.setSlice(change.after);
    });
    await whenSynced([this.#services, this.#slices, this.nodes], signal);
    proxy.synced();
  }

  #passService(proxy: ServiceProxy, change: Change<Service>): void {
    if (change.type !== 'deleted' && this.#isOurs(change.after)) proxy.setService(change.after);
    else proxy.removeService(change.key);
  }

  #isOurs(service: KubeObject): boolean {
    const { serviceProxyName, servesAll } = this.#options;
    const name = service.metadata?.labels?.[proxyNameLabel];
    return name === undefined ? servesAll : name === serviceProxyName;
  }
}
