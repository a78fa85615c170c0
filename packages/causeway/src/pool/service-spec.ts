import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { quoted } from '@causeway/base/text/text-limit';
import { parsePoolLabels } from '../ipam/pool-labels.ts';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { sharingKeyAnnotation } from '../services/annotations.ts';
import { frontendFromService } from '../services/frontend-from-service.ts';
import { readLoadBalancerSpec } from '../services/load-balancer-spec.ts';
import { announcerAnnotation, poolLabelsAnnotation, poolNameAnnotation } from './annotations.ts';
import { announcerNames, announcers, isAnnouncerName, type AnnouncerName } from './announcer.ts';
import { inFamilies, type Holding } from './holding.ts';
import type { Demand } from './pool-ledger.ts';

/** The request of a Service to the pool. */
export interface PoolServiceSpec {
  readonly demand: Demand;
  /** The announcer that the Service names itself. */
  readonly announcer: AnnouncerName | undefined;
}

export type PoolServiceSpecReading =
  | { readonly kind: 'spec'; readonly spec: PoolServiceSpec }
  | { readonly kind: 'refused'; readonly reason: EventReason; readonly message: string };

/**
 * Reads the request of a Service. The addresses that it has are always requested by name, so that the
 * ledger reserves them again after it lost them. Otherwise the user's request counts, by Causeway's annotation
 * or by the announcer's own.
 */
export function readPoolServiceSpec(
  service: Service,
  holding: Holding | undefined,
): PoolServiceSpecReading {
  const reading = readLoadBalancerSpec(frontendFromService(service), [4, 6]);
  if (reading.kind === 'refused') return reading;
  const { families, requested, ports } = reading.needs;
  const annotations = service.metadata?.annotations ?? {};
  const named = annotations[announcerAnnotation];
  if (named !== undefined && !isAnnouncerName(named)) {
    return {
      kind: 'refused',
      reason: 'UnknownAnnouncer',
      message: `The annotation ${announcerAnnotation} has the unknown value ${quoted(named)}; known are ${announcerNames.join(', ')}.`,
    };
  }
  const { namespace = '', name = '' } = service.metadata ?? {};
  const sharingKey = annotations[sharingKeyAnnotation];
  const pool = annotations[poolNameAnnotation];
  const poolLabels = readPoolLabels(annotations);
  if (poolLabels instanceof CausewayError) {
    const message = `The annotation ${poolLabelsAnnotation}: ${poolLabels.message}, such as tier=gold,zone=b.`;
    return { kind: 'refused', reason: 'InvalidPoolLabels', message };
  }
  // Former addresses of families that the Service no longer uses are not requested again.
  const had = inFamilies(holding?.addresses ?? [], families).map(({ address }) => address);
  const asked = requested.size > 0 ? [...requested.values()] : askedOfAnnouncers(annotations);
  const demand: Demand = {
    namespace,
    name,
    families,
    addresses: had.length === 0 ? asked : had,
    // An address that is no longer announced may have another owner now.
    inUse: had.length > 0 && holding?.stoppedAt === undefined,
    ports: ports.map(({ protocol, port }) => `${protocol}/${port}`).sort(),
    ...(sharingKey === undefined || sharingKey === '' ? {} : { sharingKey }),
    ...(pool === undefined || pool === '' ? {} : { pool }),
    ...(poolLabels === undefined ? {} : { poolLabels }),
  };
  return { kind: 'spec', spec: { demand, announcer: named } };
}

/**
 * The same for a Service that lost its addresses: the annotations that the controller wrote for the announcer
 * are not the user's request.
 */
export function readPoolServiceSpecAnew(
  service: Service,
  announcer: AnnouncerName,
): PoolServiceSpecReading {
  const { annotations = {}, ...metadata } = service.metadata ?? {};
  const announcerAnnotations = new Set(announcers[announcer].annotations);
  const left = Object.fromEntries(
    Object.entries(annotations).filter(([key]) => !announcerAnnotations.has(key)),
  );
  return readPoolServiceSpec(
    { ...service, metadata: { ...metadata, annotations: left } },
    undefined,
  );
}

function readPoolLabels(
  annotations: Readonly<Record<string, string>>,
): Record<string, string> | CausewayError | undefined {
  const text = annotations[poolLabelsAnnotation];
  if (text === undefined || text === '') return undefined;
  try {
    return parsePoolLabels(text);
  } catch (error) {
    return CausewayError.from(error);
  }
}

/** A Service that was created for the announcer alone has its address in the announcer's annotation. */
function askedOfAnnouncers(annotations: Readonly<Record<string, string>>): Address[] {
  for (const {
    annotations: [key],
  } of Object.values(announcers)) {
    const text = key === undefined ? undefined : annotations[key];
    if (text === undefined) continue;
    return text.split(',').flatMap((part) => tryParseAddress(part.trim()) ?? []);
  }
  return [];
}
