import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { endpointSlices } from '@causeway/kubernetes/objects/resources';
import type { RowStore } from './row-store.ts';
import { connectionsTo, type Gateway } from './gateway-source.ts';
import type { EventRow, PathEndpoint, PathGateway, ServicePath, ServiceRow } from './rows.ts';

export interface PathSources {
  readonly client: KubeClient;
  readonly rowStore: RowStore;
  readonly gateways: ReadonlyMap<string, Gateway>;
}

const mostEvents = 20;

/**
 * The path of a connection to the Service, from the gateways to the pods. Undefined for an unknown Service.
 */
export async function findPath(
  sources: PathSources,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<ServicePath | undefined> {
  const { rowStore, client } = sources;
  const key = `${namespace}/${name}`;
  const service = rowStore.get('service', key);
  if (service === undefined) return undefined;
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const slices: EndpointSlice[] = [];
  for await (const slice of client.list(endpointSlices, { namespace, labelSelector, signal })) {
    slices.push(slice);
  }
  return {
    service,
    gateways: await gatewaysOf(sources, service, signal),
    endpoints: pathEndpoints(slices),
    events: eventsAbout(rowStore.rows('event'), key),
  };
}

async function gatewaysOf(
  { rowStore, gateways }: PathSources,
  service: ServiceRow,
  signal: AbortSignal,
): Promise<PathGateway[]> {
  if (service.provider !== 'gateway') return [];
  return Promise.all(
    [...gateways].map(async ([name, gateway]) => {
      const row = rowStore.get('gateway', name);
      const connections = await connectionsTo(gateway, service, signal);
      return {
        name,
        role: row?.role ?? 'unknown',
        reachable: row?.reachable ?? false,
        canServe: row?.canServe ?? false,
        connections: connections ?? null,
      };
    }),
  );
}

export function pathEndpoints(slices: readonly EndpointSlice[]): PathEndpoint[] {
  const found = slices.flatMap((slice) =>
    (slice.endpoints ?? []).flatMap(({ addresses, conditions, nodeName, targetRef }) =>
      addresses.map((address): PathEndpoint => {
        const isServing = conditions?.serving === true && conditions.terminating === true;
        return {
          address,
          ports: (slice.ports ?? []).map(
            ({ port, protocol = 'TCP' }) => `${port ?? 'any'}/${protocol}`,
          ),
          node: nodeName ?? '',
          target: targetRef?.name ?? '',
          state: conditions?.ready === false ? (isServing ? 'draining' : 'not-ready') : 'ready',
        };
      }),
    ),
  );
  return found.sort((left, right) => (left.address < right.address ? -1 : 1));
}

function eventsAbout(rows: Iterable<EventRow>, key: string): EventRow[] {
  return [...rows]
    .filter(({ about }) => about === `Service ${key}`)
    .sort((left, right) => (left.at > right.at ? -1 : 1))
    .slice(0, mostEvents);
}
