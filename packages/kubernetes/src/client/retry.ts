import type { CausewayError } from '@causeway/base/error/causeway-error';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import type { Random } from '@causeway/base/simulation/random';
import { KubeError } from './error.ts';
import type { Method } from './transport.ts';

const betweenTries: BackoffPolicy = { baseMs: 100, maxMs: 2_000, jitter: 0.5 };
const mostTries = 5;
const longestWaitMs = 30_000;

/**
 * Delay before a failed request is sent again, or undefined to give up.
 *
 * If the server gives a delay (429, or a 5xx with Retry-After), it has done nothing yet, and any request may
 * be repeated. Otherwise only reads are: a write with a lost answer may have taken effect, and only the
 * caller knows whether that matters.
 */
export function retryDelay(
  method: Method,
  failures: number,
  error: CausewayError,
  random: Random,
): number | undefined {
  if (failures >= mostTries || !(error instanceof KubeError)) return undefined;
  const ownDelay = backoffDelay(betweenTries, failures, random);
  const { status, retryAfterMs } = error;
  const isInvited =
    status === 429 || (status !== undefined && status >= 500 && retryAfterMs !== undefined);
  if (isInvited) {
    const asked = retryAfterMs ?? 0;
    return asked > longestWaitMs ? undefined : Math.max(asked, ownDelay);
  }
  const isTransient = error.code === 'unavailable' || error.code === 'timeout';
  return method === 'GET' && isTransient ? ownDelay : undefined;
}
