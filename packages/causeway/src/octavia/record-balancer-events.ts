import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { ProviderContext } from '../services/provider.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { ObservedBalancer } from './observed.ts';
import type { PendingChanges } from './pending-changes.ts';

export function isLeaving({ balancer }: ObservedBalancer): boolean {
  return balancer.provisioningStatus === 'PENDING_DELETE';
}

/** The controller's own deletions leave the status immediately, so another program deletes this one. */
export function recordLeaving(
  { status }: KuryrLoadBalancer,
  observed: ObservedBalancer,
  context: ProviderContext,
): void {
  const { id } = observed.balancer;
  if (!isLeaving(observed) || status?.loadbalancer?.id !== id) return;
  const message = `Another program deletes the load balancer ${id}. The controller creates it again.`;
  context.recordEvent('LoadBalancerMissing', message);
}

export function recordLost(id: string, context: ProviderContext): void {
  const message = `The load balancer ${id} does not exist any more. The controller creates it again.`;
  context.recordEvent('LoadBalancerMissing', message);
}

/** Records which of the children in the status do not exist any more. */
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
    const message =
      'A listener of the load balancer does not exist any more. The controller creates it again.';
    context.recordEvent('LoadBalancerListenerMissing', message);
  }
  if (status?.pools?.some(isGone(observed.pools)) === true) {
    const message =
      'A pool of the load balancer does not exist any more. The controller creates it again.';
    context.recordEvent('LoadBalancerPoolMissing', message);
  }
}

/**
 * The status names a load balancer that was not created for this Service: a user wrote it, or had named it
 * before.
 */
export function recordForeign({ balancer }: ObservedBalancer, context: ProviderContext): void {
  const message = `The load balancer ${balancer.id} in the status was not created for this Service. The controller does not change that load balancer.`;
  context.recordEvent('LoadBalancerNotOurs', message);
}

/** The source of the connections is unknown, so the security group of the members stays unchanged. */
export function recordClosed(context: ProviderContext): void {
  const message =
    'The source subnet of the load balancer is not known. The controller does not open the security group of the members.';
  context.recordEvent('SecurityGroupNotOpened', message);
}

/** Only Octavia can end a PENDING status. After so long, Octavia has probably lost the task. */
export function recordOverdue(
  pendingChanges: PendingChanges,
  { balancer: { id } }: ObservedBalancer,
  context: ProviderContext,
  reason: EventReason = 'KuryrEnsureLBError',
): void {
  const status = pendingChanges.overdueStatus(id);
  if (status === undefined) return;
  const message = `The load balancer ${id} has been ${status} for too long. Only the cloud's operator can reset the load balancer.`;
  context.recordEvent(reason, message);
}
