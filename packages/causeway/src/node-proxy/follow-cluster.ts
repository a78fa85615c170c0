import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Clock } from '@causeway/base/time/clock';
import { supervise } from '@causeway/base/work/supervisor';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Node, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { endpointSlices, nodes, services } from '@causeway/kubernetes/objects/resources';
import { followedService, followedSlice, proxyNameLabel } from './followed-objects.ts';
import type { ProxyStore } from './proxy-store.ts';
import type { ProxySettings } from './settings.ts';

export interface FollowClusterOptions {
  readonly store: ProxyStore;
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const headlessLabel = 'service.kubernetes.io/headless';

/** Follows Services, their EndpointSlices and the Node of this machine, until the signal fires. */
export function followCluster(options: FollowClusterOptions, signal: AbortSignal): Promise<void> {
  const { store, nodeName, ...common } = options;
  // Slices are not selected by the proxy's name: manually written slices may not have the label.
  const labelSelector = `!${headlessLabel}`;
  const reflectors = {
    services: new Reflector<Service, Service>({
      ...common,
      resource: services,
      store: store.services,
      projection: followedService,
      selection: { labelSelector },
    }),
    'endpoint slices': new Reflector<EndpointSlice, EndpointSlice, 'service'>({
      ...common,
      resource: endpointSlices,
      store: store.slices,
      projection: followedSlice,
      selection: { labelSelector },
    }),
    node: new Reflector<Node, Node>({
      ...common,
      resource: nodes,
      store: store.nodes,
      projection: withSlimMetadata,
      selection: { fieldSelector: `metadata.name=${nodeName}` },
    }),
  };
  return supervise(
    signal,
    Object.fromEntries(
      Object.entries(reflectors).map(([name, reflector]) => [
        name,
        (inner: AbortSignal) => reflector.run(inner),
      ]),
    ),
  );
}

/** Whether this proxy serves a Service. Services with the label of another proxy are never served. */
export function servedBy({
  serviceProxyName,
  services: scope,
}: Pick<ProxySettings, 'serviceProxyName' | 'services'>): (service: Service) => boolean {
  return ({ metadata }) => {
    const name = metadata?.labels?.[proxyNameLabel];
    return name === undefined ? scope === 'all' : name === serviceProxyName;
  };
}
