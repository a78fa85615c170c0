import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Event, Service } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { endpointSlices, events, services } from '@causeway/kubernetes/objects/resources';
import { eventRow } from './event-row.ts';
import type { EventRow, ServiceRow } from './rows.ts';
import { addSlices, countSlice, serviceRow, type SliceCount } from './service-row.ts';

const serviceLabel = 'kubernetes.io/service-name';

/** The current rows of all Services, or of those in a namespace. */
export async function readServices(
  client: KubeClient,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<ServiceRow[]> {
  const counts = new Map<string, SliceCount[]>();
  for await (const slice of client.list(endpointSlices, { namespace, signal })) {
    const key = `${slice.metadata?.namespace}/${slice.metadata?.labels?.[serviceLabel]}`;
    counts.set(key, [...(counts.get(key) ?? []), countSlice(slice)]);
  }
  const rows: ServiceRow[] = [];
  for await (const service of client.list(services, { namespace, signal })) {
    rows.push(serviceRow(service, addSlices(counts.get(keyOf(service)) ?? [])));
  }
  return rows;
}

/** One Service with its row and its Events; undefined if it does not exist. */
export async function readService(
  client: KubeClient,
  name: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<{ service: Service; row: ServiceRow; events: EventRow[] } | undefined> {
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
  return { service, row: serviceRow(service, addSlices(counts)), events: said };
}

/** An Event of an earlier Service with the same name does not apply to this one. */
function isAbout(event: Event, service: Service): boolean {
  const uid = event.involvedObject?.uid;
  return uid === undefined || uid === service.metadata?.uid;
}
