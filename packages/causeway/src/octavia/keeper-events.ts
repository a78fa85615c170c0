import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { ProviderContext } from '../services/provider.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { ObservedBalancer } from './observed.ts';
import type { PendingChanges } from './pending-changes.ts';

export function isLeaving({ balancer }: ObservedBalancer): boolean {
  return balancer.provisioningStatus === 'PENDING_DELETE';
}

/** Our own deletions take it out of the status at once; this one is somebody else's. */
export function recordLeaving(
  { status }: KuryrLoadBalancer,
  observed: ObservedBalancer,
  context: ProviderContext,
): void {
  const { id } = observed.balancer;
  if (!isLeaving(observed) || status?.loadbalancer?.id !== id) return;
  const message = `The load balancer ${id} is being deleted, and not by us. Making it anew.`;
  context.recordEvent('Warning', 'LoadBalancerMissing', message);
}

export function recordLost(id: string, context: ProviderContext): void {
  const message = `The load balancer ${id} does not exist any more. Making it anew.`;
  context.recordEvent('Warning', 'LoadBalancerMissing', message);
}

/** Says which of the recorded children are gone. */
export function recordMissing(
  { status }: KuryrLoadBalancer,
  observed: ObservedBalancer,
  context: ProviderContext,
): void {
  const isGone = (present: readonly { id: string }[]) => {
    const ids = new Set(present.map(({ id }) => id));
    return ({ id }: { id: string }) => !ids.has(id);
  };
  if (status?.listeners?.some(isGone(observed.listeners)) === true) {
    const message = 'A listener of the load balancer does not exist any more. Making it anew.';
    context.recordEvent('Warning', 'LoadBalancerListenerMissing', message);
  }
  if (status?.pools?.some(isGone(observed.pools)) === true) {
    const message = 'A pool of the load balancer does not exist any more. Making it anew.';
    context.recordEvent('Warning', 'LoadBalancerPoolMissing', message);
  }
}

/** The status names one that was not made for this Service: by hand, or because the user had named it before. */
export function recordForeign({ balancer }: ObservedBalancer, context: ProviderContext): void {
  const message = `The load balancer ${balancer.id} in the status was not made for this Service. It is left alone.`;
  context.recordEvent('Warning', 'LoadBalancerNotOurs', message);
}

/** Nobody knows where its connections come from, so the members' security group stays as it is. */
export function recordClosed(context: ProviderContext): void {
  const message =
    'The subnet that the load balancer connects from is not known. The security group of the members is not opened for it.';
  context.recordEvent('Warning', 'SecurityGroupNotOpened', message);
}

/** PENDING is nobody's to end but the service's, and after so long it has forgotten about it. */
export function recordOverdue(
  pendingChanges: PendingChanges,
  { balancer: { id } }: ObservedBalancer,
  context: ProviderContext,
  reason: EventReason = 'KuryrEnsureLBError',
): void {
  const status = pendingChanges.overdueStatus(id);
  if (status === undefined) return;
  const message = `The load balancer ${id} has been ${status} for too long. Only the cloud's operator can reset it.`;
  context.recordEvent('Warning', reason, message);
}
