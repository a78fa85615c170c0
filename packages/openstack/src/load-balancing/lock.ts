import { CausewayError } from '@causeway/base/error/causeway-error';
import type { BackoffPolicy } from '@causeway/base/time/backoff';
import type { CallOptions } from '../call.ts';
import { OpenStackError } from '../error.ts';
import type { LoadBalancer } from './resources.ts';
import type { LoadBalancerWaiter } from './waiter.ts';

/** The load balancer is busy with an earlier change. Duplicates are 409 too, so the words decide. */
export function isLocked(error: unknown): boolean {
  return (
    error instanceof OpenStackError &&
    error.code === 'conflict' &&
    /immutable|pending|invalid state/i.test(error.serviceMessage ?? '')
  );
}

export function isPending(loadBalancer: Pick<LoadBalancer, 'provisioningStatus'>): boolean {
  return loadBalancer.provisioningStatus.startsWith('PENDING_');
}

/** Locked although the load balancer is not pending: a child of it is, or somebody was faster. */
const contention: BackoffPolicy = { baseMs: 250, maxMs: 4_000, jitter: 0.5 };
const mostContention = 8;

/**
 * Does a write as soon as the load balancer is free for it: waits out the lock whenever the write
 * meets it, and tries again. Ends at the call's signal, at its deadline (which holds for all the tries and
 * waits together, and ends the write through its signal), when the load balancer ends in ERROR, and when
 * the write stays locked on a load balancer that is not pending.
 */
export function whenUnlocked<T>(
  waiter: LoadBalancerWaiter,
  loadBalancerId: string,
  write: (signal: AbortSignal) => Promise<T>,
  call: CallOptions,
): Promise<T> {
  return waiter.within(call, 'a write on a load balancer', (signal) =>
    tryUntilUnlocked(waiter, loadBalancerId, write, { ...call, signal }),
  );
}

async function tryUntilUnlocked<T>(
  waiter: LoadBalancerWaiter,
  loadBalancerId: string,
  write: (signal: AbortSignal) => Promise<T>,
  call: CallOptions,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write(call.signal);
    } catch (error) {
      const locked =
        isLocked(error) || (await isLockedByServerError(error, waiter, loadBalancerId, call));
      if (!locked || tries > mostContention) throw error;
    }
    const { provisioningStatus } = await waiter.settled(loadBalancerId, call);
    if (provisioningStatus === 'ERROR') {
      throw new CausewayError('conflict', 'the load balancer is in ERROR and takes no changes', {
        hint: 'Delete it with everything under it and create it again.',
      });
    }
    if (tries > 1) await waiter.pause(contention, tries - 1, call.signal);
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
  return isPending(await waiter.check(loadBalancerId, call));
}
