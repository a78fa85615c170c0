import type { Family } from '@causeway/base/address/address';
import type { Service, ServicePort } from '@causeway/kubernetes/objects/core-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { EndpointFacts } from '../../health/facts.ts';
import {
  serviceHealth,
  type ClusterHealth,
  type ServiceHealth,
} from '../../health/service-health.ts';
import type { ServiceRow } from './rows.ts';
import { idledAnnotation, objectFacts, type ObjectFacts } from './service-facts.ts';

const backendLabel = 'causeway.dev/backend';

/** The kept part of a Service: its facts, and the fields of its row that follow from the object alone. */
export interface DescribedService {
  readonly facts: ObjectFacts;
  readonly fixed: Pick<
    ServiceRow,
    'key' | 'type' | 'provider' | 'addresses' | 'ports' | 'backend' | 'idledAt' | 'createdAt'
  >;
}

export function describeService(service: Service): DescribedService {
  const { metadata, spec, status } = service;
  const facts = objectFacts(service);
  const ingress = status?.loadBalancer?.ingress ?? [];
  const external = [
    ...ingress.map(({ ip, hostname }) => ip ?? hostname ?? ''),
    ...(spec?.externalIPs ?? []),
  ];
  const internal = (spec?.clusterIPs ?? []).filter((address) => address !== 'None');
  return {
    facts,
    fixed: {
      key: keyOf(service),
      type: typeOf(service),
      provider: facts.provider.kind === 'record' ? facts.provider.name : '',
      // An internal address must not appear as an external one.
      addresses: external.length > 0 || spec?.type === 'LoadBalancer' ? external : internal,
      ports: (spec?.ports ?? []).map(portText),
      backend: metadata?.labels?.[backendLabel] ?? '',
      idledAt: metadata?.annotations?.[idledAnnotation] ?? '',
      createdAt: metadata?.creationTimestamp ?? '',
    },
  };
}

/** The health of a described Service. */
export function healthOf(
  { facts }: DescribedService,
  endpoints: ReadonlyMap<Family, EndpointFacts>,
  cluster: ClusterHealth,
): ServiceHealth {
  return serviceHealth({ ...facts, endpoints }, cluster);
}

/** The operator's view of a Service. */
export function serviceRow(
  { fixed }: DescribedService,
  endpoints: ReadonlyMap<Family, EndpointFacts>,
  { state, causes }: ServiceHealth,
): ServiceRow {
  const [cause] = causes;
  return {
    ...fixed,
    state,
    reason: cause?.code ?? '',
    message: cause?.message ?? '',
    since: cause?.since === undefined ? '' : new Date(cause.since).toISOString(),
    remedy: cause?.remedy ?? '',
    endpoints: countEndpoints(endpoints),
  };
}

/** With two families, each has an endpoint for the same pod. */
function countEndpoints(endpoints: ReadonlyMap<Family, EndpointFacts>): ServiceRow['endpoints'] {
  const families = [...endpoints.values()];
  return {
    ready: Math.max(0, ...families.map(({ ready }) => ready)),
    all: Math.max(0, ...families.map(({ all }) => all)),
  };
}

function typeOf({ spec }: Service): string {
  if (spec?.clusterIP === 'None') return 'Headless';
  return spec?.type ?? 'ClusterIP';
}

function portText({ port, protocol = 'TCP' }: ServicePort): string {
  return `${port}/${protocol}`;
}
