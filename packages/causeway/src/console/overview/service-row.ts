import type { Service, ServicePort } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { readyCondition } from '../../services/service-status.ts';
import { readRecord } from '../../services/record.ts';
import type { ServiceRow, ServiceState } from './rows.ts';

const idledAnnotation = 'idling.alpha.openshift.io/idled-at';
const backendLabel = 'causeway.dev/backend';

/** The operator's view of a Service. The caller counts the endpoints. */
export function serviceRow(service: Service, endpoints: ServiceRow['endpoints']): ServiceRow {
  const { metadata, spec, status } = service;
  const ingress = status?.loadBalancer?.ingress ?? [];
  const external = [
    ...ingress.map(({ ip, hostname }) => ip ?? hostname ?? ''),
    ...(spec?.externalIPs ?? []),
  ];
  const internal = (spec?.clusterIPs ?? []).filter((address) => address !== 'None');
  const { state, reason, message } = stateOf(service);
  return {
    key: keyOf(service),
    type: typeOf(service),
    provider: providerOf(service),
    state,
    reason,
    message,
    // An internal address must not appear as an external one.
    addresses: external.length > 0 || spec?.type === 'LoadBalancer' ? external : internal,
    ports: (spec?.ports ?? []).map(portText),
    endpoints,
    backend: metadata?.labels?.[backendLabel] ?? '',
    idledAt: metadata?.annotations?.[idledAnnotation] ?? '',
    createdAt: metadata?.creationTimestamp ?? '',
  };
}

interface Standing {
  readonly state: ServiceState;
  readonly reason: string;
  readonly message: string;
}

function stateOf(service: Service): Standing {
  const { metadata, spec, status } = service;
  const condition = status?.conditions?.find(({ type }) => type === readyCondition);
  const said = { reason: condition?.reason ?? '', message: condition?.message ?? '' };
  if (metadata?.deletionTimestamp !== undefined) {
    const finalizers = metadata.finalizers?.join(', ') ?? '';
    return {
      state: 'deleting',
      reason: 'Deleting',
      message: said.message || `Waiting for ${finalizers || 'the API server'}.`,
    };
  }
  if (metadata?.annotations?.[idledAnnotation] !== undefined) {
    return { state: 'idle', reason: 'Idle', message: 'Idle; the first connection wakes it.' };
  }
  if (condition !== undefined) {
    const failed = condition.reason !== 'Pending' && condition.status === 'False';
    return {
      state: condition.status === 'True' ? 'serving' : failed ? 'failed' : 'pending',
      ...said,
    };
  }
  if (spec?.type !== 'LoadBalancer') return { state: 'internal', reason: '', message: '' };
  if (readRecord(service).kind !== 'none') {
    return {
      state: 'pending',
      reason: 'Pending',
      message: 'Taken over by a provider; no status yet.',
    };
  }
  if ((status?.loadBalancer?.ingress ?? []).length > 0) {
    return {
      state: 'serving',
      reason: 'Foreign',
      message: 'Another controller set its address.',
    };
  }
  const named = spec.loadBalancerClass;
  return {
    state: 'unmatched',
    reason: 'Unmatched',
    message:
      named === undefined
        ? 'It has no loadBalancerClass, and no default provider took it.'
        : `No provider here serves the class ${named}.`,
  };
}

function typeOf({ spec }: Service): string {
  if (spec?.clusterIP === 'None') return 'Headless';
  return spec?.type ?? 'ClusterIP';
}

function providerOf(service: Service): string {
  const reading = readRecord(service);
  return reading.kind === 'record' ? reading.record.provider : '';
}

function portText({ port, protocol = 'TCP' }: ServicePort): string {
  return `${port}/${protocol}`;
}

/** The kept part of a slice. */
export interface SliceCount {
  readonly family: string;
  readonly ready: number;
  readonly all: number;
}

export function countSlice({ addressType, endpoints }: EndpointSlice): SliceCount {
  const all = endpoints ?? [];
  const ready = all.filter(({ conditions }) => conditions?.ready !== false);
  return { family: addressType, ready: ready.length, all: all.length };
}

/** Number of endpoints of all slices. With two families each has a slice for the same pods. */
export function addSlices(slices: Iterable<SliceCount>): ServiceRow['endpoints'] {
  const families = new Map<string, { ready: number; all: number }>();
  for (const { family, ready, all } of slices) {
    const sum = families.get(family) ?? { ready: 0, all: 0 };
    families.set(family, { ready: sum.ready + ready, all: sum.all + all });
  }
  const most = (of: (sum: { ready: number; all: number }) => number) =>
    Math.max(0, ...[...families.values()].map(of));
  return { ready: most(({ ready }) => ready), all: most(({ all }) => all) };
}
