import { CausewayError } from '@causeway/base/error/causeway-error';
import type { BackoffPolicy } from '@causeway/base/time/backoff';
import type { CallOptions } from '../call.ts';
import { OpenStackError } from '../error.ts';
import type { LoadBalancer } from './resources.ts';
import type { LoadBalancerWaiter } from './waiter.ts';

/** The load balancer is busy with an earlier change. Duplicates are 409 too, so the message decides. */
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

/** Locked although the load balancer is not pending: a child is pending, or another writer was first. */
const contention: BackoffPolicy = { baseMs: 250, maxMs: 4_000, jitter: 0.5 };
const mostContention = 8;

/**
 * Runs a write once the load balancer is unlocked: it waits whenever the write meets the lock, and tries
 * again. It ends at the call's signal, at its deadline, when the load balancer is in ERROR, and when the
 * write stays locked although the load balancer is not pending. The deadline covers all attempts and waits,
 * and ends the write through its signal.
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
      throw new CausewayError('conflict', 'the load balancer is in ERROR and accepts no changes', {
        hint: 'Delete it with all its children and create it again.',
      });
    }
    if (tries > 1) await waiter.pause(contention, tries - 1, call.signal);
  }
}

/** LBaaS v2 may answer 500 for a lock; only the state of the load balancer shows it. */
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
