import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Claim } from '../services/provider.ts';
import { announcerAnnotation } from './annotations.ts';
import { poolClass } from './choose-announcer.ts';
import { readHolding } from './holding.ts';

/** Whether a Service is the pool provider's; `classes` are those that it serves beside our own. */
export function claimOf(service: Service, classes: readonly string[]): Claim {
  if (service.spec?.type !== 'LoadBalancer') return isKeptBack(service) ? 'yes' : 'no';
  const { loadBalancerClass } = service.spec;
  const namesAnnouncer = service.metadata?.annotations?.[announcerAnnotation] !== undefined;
  if (loadBalancerClass === undefined) return namesAnnouncer ? 'yes' : 'if-default';
  const isOurs = loadBalancerClass === poolClass || namesAnnouncer;
  return isOurs || classes.includes(loadBalancerClass) ? 'yes' : 'no';
}

/** Whether it is no load balancer only because it must not be announced. */
function isKeptBack(service: Service): boolean {
  return service.spec?.type === 'NodePort' && readHolding(service)?.kept !== undefined;
}
