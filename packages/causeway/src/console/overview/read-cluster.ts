import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Event, Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { endpointSlices, events, services } from '@causeway/kubernetes/objects/resources';
import type { ClusterHealth, ServiceHealth } from '../../health/service-health.ts';
import { eventRow } from './event-row.ts';
import type { EventRow, ServiceRow } from './rows.ts';
import { addSlices, countSlice, type SliceCount } from './service-facts.ts';
import { describeService, healthOf, serviceRow } from './service-row.ts';

const serviceLabel = 'kubernetes.io/service-name';

/** A Service with its health. */
export interface AssessedService {
  readonly row: ServiceRow;
  readonly health: ServiceHealth;
}

/** All Services, or those in a namespace, with their health. */
export async function readServices(
  client: KubeClient,
  namespace: string | undefined,
  cluster: ClusterHealth,
  signal: AbortSignal,
): Promise<AssessedService[]> {
  const counts = new Map<string, SliceCount[]>();
  for await (const slice of client.list(endpointSlices, { namespace, signal })) {
    const key = `${slice.metadata?.namespace}/${slice.metadata?.labels?.[serviceLabel]}`;
    counts.set(key, [...(counts.get(key) ?? []), countSlice(slice)]);
  }
  const found: AssessedService[] = [];
  for await (const service of client.list(services, { namespace, signal })) {
    found.push(assess(service, counts.get(keyOf(service)) ?? [], cluster));
  }
  return found;
}

function assess(
  service: Service,
  slices: readonly SliceCount[],
  cluster: ClusterHealth,
): AssessedService {
  const described = describeService(service);
  const endpoints = addSlices(slices);
  const health = healthOf(described, endpoints, cluster);
  return { row: serviceRow(described, endpoints, health), health };
}

/** One Service with its health and its Events; undefined if it does not exist. */
export async function readService(
  client: KubeClient,
  name: { readonly namespace: string; readonly name: string },
  cluster: ClusterHealth,
  signal: AbortSignal,
): Promise<(AssessedService & { service: Service; events: EventRow[] }) | undefined> {
  const service = await client.find(services, name, { signal });
  if (service === undefined) return undefined;
  const { namespace } = name;
  const counts: SliceCount[] = [];
  const labelSelector = `${serviceLabel}=${name.name}`;
  for await (const slice of client.list(endpointSlices, { namespace, labelSelector, signal })) {
    counts.push(countSlice(slice));
  }
  const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${name.name}`;
  const said: EventRow[] = [];
  for await (const event of client.list(events, { namespace, fieldSelector, signal })) {
    if (isAbout(event, service)) said.push(eventRow(event));
  }
  return { service, events: said, ...assess(service, counts, cluster) };
}

/** An Event of an earlier Service with the same name does not apply to this one. */
function isAbout(event: Event, service: Service): boolean {
  const uid = event.involvedObject?.uid;
  return uid === undefined || uid === service.metadata?.uid;
}
