import type { CallOptions, Deletion } from '../call.ts';
import { OpenStackError } from '../error.ts';
import { readAgainAfterLoss, type RetryPace } from './read-again.ts';

interface Deletable {
  readonly pace: RetryPace;
  get(id: string, call: CallOptions): Promise<{ readonly provisioningStatus: string }>;
  /** Sends the request once: a lost answer is an error. */
  deleteOnce(id: string, call: CallOptions, query?: URLSearchParams): Promise<Deletion>;
  within<T>(call: CallOptions, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/**
 * Deletes an object of a load balancer, unless its deletion is already running. It reads the object before
 * each request, because Octavia does not: Octavia accepts a delete for an object when its deletion is about to
 * end, finds nothing to delete, and leaves the load balancer PENDING_UPDATE for good (it reads the object
 * before it takes the lock, and not again).
 */
export function deleteUnlessUnderWay(
  objects: Deletable,
  id: string,
  call: CallOptions,
  query?: URLSearchParams,
): Promise<Deletion> {
  return objects.within(call, 'a delete', (signal) => {
    const inner = { ...call, signal };
    let hasAsked = false;
    return readAgainAfterLoss(objects.pace, signal, async () => {
      const status = await statusOf(objects.get(id, inner));
      if (status === 'DELETED') return hasAsked ? 'deleted' : 'absent';
      if (status === 'PENDING_DELETE') return 'deleted';
      hasAsked = true;
      try {
        return await objects.deleteOnce(id, inner, query);
      } catch (error) {
        if (!(error instanceof OpenStackError) || error.status !== 409) throw error;
        // Another delete of the same object may hold the lock.
        const now = await statusOf(objects.get(id, inner));
        if (now !== 'PENDING_DELETE' && now !== 'DELETED') throw error;
        return 'deleted';
      }
    });
  });
}

async function statusOf(object: Promise<{ readonly provisioningStatus: string }>): Promise<string> {
  try {
    return (await object).provisioningStatus;
  } catch (error) {
    if (error instanceof OpenStackError && error.status === 404) return 'DELETED';
    throw error;
  }
}
