import { familyOf, tryParseAddress, type Family } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import type { EndpointFacts, ProviderFacts, ServiceFacts } from '../../health/facts.ts';
import { readRecord } from '../../services/record.ts';
import { readyCondition } from '../../services/service-status.ts';

export const idledAnnotation = 'idling.alpha.openshift.io/idled-at';

/** The facts of the Service object itself. The endpoints are in other objects. */
export type ObjectFacts = Omit<ServiceFacts, 'endpoints'>;

export function objectFacts(service: Service): ObjectFacts {
  const { metadata, spec, status } = service;
  const ingress = status?.loadBalancer?.ingress ?? [];
  const condition = status?.conditions?.find(({ type }) => type === readyCondition);
  const idledAt = metadata?.annotations?.[idledAnnotation];
  const deletedAt = metadata?.deletionTimestamp;
  return {
    key: keyOf(service),
    isLoadBalancer: spec?.type === 'LoadBalancer',
    className: spec?.loadBalancerClass,
    provider: providerFacts(service),
    addresses: ingress.map(({ ip, hostname }) => addressFacts(ip ?? hostname ?? '')),
    condition:
      condition === undefined
        ? undefined
        : {
            status: statusOf(condition.status),
            reason: condition.reason ?? '',
            message: condition.message ?? '',
            since: timeOf(condition.lastTransitionTime),
          },
    createdAt: timeOf(metadata?.creationTimestamp),
    deletion:
      deletedAt === undefined
        ? undefined
        : { since: timeOf(deletedAt), waitsFor: waitsFor(metadata?.finalizers) },
    idling: idledAt === undefined ? undefined : { since: timeOf(idledAt) },
    selector: Object.entries(spec?.selector ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  };
}

function providerFacts(service: Service): ProviderFacts {
  const reading = readRecord(service);
  return reading.kind === 'record' ? { kind: 'record', name: reading.record.provider } : reading;
}

function addressFacts(address: string): ServiceFacts['addresses'][number] {
  const parsed = tryParseAddress(address);
  return { address, family: parsed === undefined ? undefined : familyOf(parsed) };
}

function statusOf(text: string | undefined): 'True' | 'False' | 'Unknown' {
  return text === 'True' || text === 'False' ? text : 'Unknown';
}

function waitsFor(finalizers: readonly string[] | undefined): string {
  return finalizers?.join(', ') || 'the API server';
}

/** Milliseconds of wall time; undefined for a missing or invalid text. */
export function timeOf(text: string | null | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** The kept part of a slice. */
export interface SliceCount extends EndpointFacts {
  /** Undefined for names. */
  readonly family: Family | undefined;
}

export function countSlice({ addressType, endpoints }: EndpointSlice): SliceCount {
  const all = endpoints ?? [];
  const ready = all.filter(({ conditions }) => conditions?.ready !== false);
  const draining = all.filter(
    ({ conditions }) =>
      conditions?.ready === false && conditions.serving === true && conditions.terminating === true,
  );
  const family = addressType === 'IPv4' ? 4 : addressType === 'IPv6' ? 6 : undefined;
  return { family, ready: ready.length, draining: draining.length, all: all.length };
}

/** The endpoints of each family. Names count for both. */
export function addSlices(slices: Iterable<SliceCount>): ReadonlyMap<Family, EndpointFacts> {
  const sums = new Map<Family, EndpointFacts>();
  for (const { family, ready, draining, all } of slices) {
    for (const each of family === undefined ? ([4, 6] as const) : [family]) {
      const sum = sums.get(each) ?? { ready: 0, draining: 0, all: 0 };
      sums.set(each, {
        ready: sum.ready + ready,
        draining: sum.draining + draining,
        all: sum.all + all,
      });
    }
  }
  return sums;
}
