import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import { type Clock, sleep } from '@causeway/base/time/clock';
import type { Random } from '@causeway/base/simulation/random';
import { OpenStackError } from '../error.ts';
import { isGatewayStatus } from '../retry.ts';

export interface RetryPace {
  readonly clock: Clock;
  readonly random: Random;
}

/** Pause after a lost answer, so that the service can start with a request that it may have received. */
const retryPause: BackoffPolicy = { baseMs: 250, maxMs: 2_000, jitter: 0.2 };
const mostTries = 4;

/**
 * A write below a load balancer that must not be repeated blindly: `write` reads the current state before it
 * sends anything, and is called again after a lost answer.
 */
export async function readAgainAfterLoss<T>(
  { clock, random }: RetryPace,
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      if (signal.aborted || !isLost(error) || tries >= mostTries) throw error;
      await sleep(clock, backoffDelay(retryPause, tries, random), signal);
    }
  }
}

/**
 * The service may have received the request, or may receive the next one. An internal failure would repeat.
 */
function isLost(error: unknown): boolean {
  if (!(error instanceof OpenStackError) || error.outcome !== 'unknown') return false;
  return error.status === undefined || isGatewayStatus(error.status);
}
