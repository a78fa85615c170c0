import { CausewayError } from '../../domain/error.ts';
import type { CallOptions } from '../call.ts';
import { OpenStackError } from '../error.ts';
import type { LoadBalancer } from './resources.ts';
import type { LoadBalancerWaiter } from './waiter.ts';

/** The load balancer is busy with an earlier change. Duplicates are 409 too, so the words decide. */
export function isLocked(error: unknown): boolean {
  return (
    error instanceof OpenStackError &&
    error.status === 409 &&
    /immutable|PENDING_|invalid state/i.test(error.serviceMessage ?? '')
  );
}

export function isPending(loadBalancer: Pick<LoadBalancer, 'provisioningStatus'>): boolean {
  return loadBalancer.provisioningStatus.startsWith('PENDING_');
}

/**
 * Does a write as soon as the load balancer is free for it: waits out the lock whenever the write
 * meets it, and tries again. Ends at the call's signal or when the load balancer ends in ERROR.
 */
export async function whenUnlocked<T>(
  waiter: LoadBalancerWaiter,
  loadBalancerId: string,
  write: () => Promise<T>,
  call: CallOptions,
): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isLocked(error) && !(await isLockedByServerError(error, waiter, loadBalancerId, call))) {
        throw error;
      }
    }
    const { provisioningStatus } = await waiter.settled(loadBalancerId, call);
    if (provisioningStatus === 'ERROR') {
      throw new CausewayError('conflict', 'the load balancer is in ERROR and takes no changes', {
        hint: 'Delete it with everything under it and create it again.',
      });
    }
  }
}

/** LBaaS v2 may answer 500 where it means the lock; only the load balancer itself can tell. */
async function isLockedByServerError(
  error: unknown,
  waiter: LoadBalancerWaiter,
  loadBalancerId: string,
  call: CallOptions,
): Promise<boolean> {
  if (waiter.kind !== 'lbaas-v2') return false;
  if (!(error instanceof OpenStackError) || error.status !== 500) return false;
  return isPending(await waiter.look(loadBalancerId, call));
}
