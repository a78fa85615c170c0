import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Annotations, SpecChange } from '../services/provider.ts';
import { dnsTargetAnnotation, holdingAnnotation } from './annotations.ts';
import { clearedAnnotations, type Announcement, type Announcer } from './announcer.ts';
import { formatHolding, readHolding, stopped, type Holding, type KeptSpec } from './holding.ts';

/** One write to a Service. The announcer's annotations and the record change together. */
export interface ServiceChange {
  readonly annotations: Annotations;
  readonly spec?: SpecChange;
}

/** Type NodePort, without the fields that only type LoadBalancer allows. */
const notBalanced: SpecChange = {
  type: 'NodePort',
  loadBalancerClass: null,
  loadBalancerSourceRanges: null,
  allocateLoadBalancerNodePorts: null,
};

/** Writes the announcement. A withdrawn Service becomes a load balancer again. */
export function announced(
  service: Service,
  announcer: Announcer,
  holding: Omit<Holding, 'announcer'>,
  announcement: Announcement,
): ServiceChange {
  const before = readHolding(service);
  const isOther = before !== undefined && before.announcer !== announcer.name;
  const { uid, addresses, fencingToken, reminders } = holding;
  const now = { uid, addresses, fencingToken, announcer: announcer.name, reminders };
  const announcedAddresses = new Set(announcement.addresses);
  const shown = {
    ...now,
    addresses: addresses.filter(({ address }) => announcedAddresses.has(address)),
  };
  const annotations = {
    ...(isOther ? clearedAnnotations(before.announcer) : {}),
    ...announcer.annotationsFor(announcement),
    ...dnsTarget(service, before, announcer.statusWriter === 'announcer' ? shown : undefined),
    [holdingAnnotation]: formatHolding(now),
  };
  const isWithdrawn = before?.kept !== undefined && service.spec?.type === 'NodePort';
  return isWithdrawn
    ? { annotations, spec: { type: 'LoadBalancer', ...before.kept } }
    : { annotations };
}

/**
 * Clears the announcement. An announcer keeps announcing a known Service of type LoadBalancer, regardless of
 * its annotations. So the Service changes its type: permanently if it is being deleted, otherwise with a
 * record of its former fields.
 */
export function withdrawn(service: Service, holding: Holding, now: number): ServiceChange {
  const isDeleted = service.metadata?.deletionTimestamp !== undefined;
  const isBalanced = service.spec?.type === 'LoadBalancer';
  const kept = isDeleted || !isBalanced ? holding.kept : { ...holding.kept, ...keptSpec(service) };
  return {
    annotations: {
      ...clearedAnnotations(holding.announcer),
      ...dnsTarget(service, holding, undefined),
      [holdingAnnotation]: formatHolding({ ...stopped(holding, now), kept }),
    },
    ...(isBalanced ? { spec: notBalanced } : {}),
  };
}

/** Clears the announcer's annotations on a Service that another controller is going to serve. */
export function handedOver(service: Service, holding: Holding, now: number): ServiceChange {
  return {
    annotations: {
      ...clearedAnnotations(holding.announcer),
      ...dnsTarget(service, holding, undefined),
      [holdingAnnotation]: formatHolding({ ...holding, stoppedAt: now, kept: undefined }),
    },
  };
}

/** The status has the announced address, but DNS must have the address that clients reach. */
function dnsTarget(
  service: Service,
  before: Holding | undefined,
  now: Holding | undefined,
): Annotations {
  const present = service.metadata?.annotations?.[dnsTargetAnnotation];
  const isOurs = present === undefined || present === targetOf(before);
  return isOurs ? { [dnsTargetAnnotation]: targetOf(now) ?? null } : {};
}

function targetOf(holding: Holding | undefined): string | undefined {
  const isTranslated = holding?.addresses.some(({ publicAddress }) => publicAddress !== undefined);
  if (isTranslated !== true) return undefined;
  return holding?.addresses.map(({ address, publicAddress }) => publicAddress ?? address).join(',');
}

function keptSpec({ spec }: Service): KeptSpec {
  const { loadBalancerClass, loadBalancerSourceRanges, allocateLoadBalancerNodePorts } = spec ?? {};
  return {
    ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
    ...(loadBalancerSourceRanges === undefined
      ? {}
      : { loadBalancerSourceRanges: [...loadBalancerSourceRanges] }),
    ...(allocateLoadBalancerNodePorts === undefined ? {} : { allocateLoadBalancerNodePorts }),
  };
}
