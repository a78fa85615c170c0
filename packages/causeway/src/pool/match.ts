import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { Match } from '../services/provider.ts';
import { announcerAnnotation } from './annotations.ts';
import { poolClass } from './choose-announcer.ts';
import { readHolding } from './holding.ts';

/** Whether a Service belongs to the pool provider. `classes` are served beside Causeway's own. */
export function matchOf(service: Service, classes: readonly string[]): Match {
  if (service.spec?.type !== 'LoadBalancer') return isKeptBack(service) ? 'yes' : 'no';
  const { loadBalancerClass } = service.spec;
  const namesAnnouncer = service.metadata?.annotations?.[announcerAnnotation] !== undefined;
  if (loadBalancerClass === undefined) return namesAnnouncer ? 'yes' : 'if-default';
  const isOurs = loadBalancerClass === poolClass || namesAnnouncer;
  return isOurs || classes.includes(loadBalancerClass) ? 'yes' : 'no';
}

/** Whether the Service lost the type LoadBalancer only because it must not be announced. */
function isKeptBack(service: Service): boolean {
  return service.spec?.type === 'NodePort' && readHolding(service)?.kept !== undefined;
}
