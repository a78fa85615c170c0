import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import type { Random } from '@causeway/base/simulation/random';
import type { Outcome } from './error.ts';

/** Whether the request is idempotent. */
export type Repeatable = 'yes' | 'no';

export interface RetryPolicy {
  readonly attempts: number;
  readonly backoff: BackoffPolicy;
}

/** Half of each delay is random, so that callers that failed together do not retry together. */
export const defaultRetryPolicy: RetryPolicy = {
  attempts: 5,
  backoff: { baseMs: 250, maxMs: 8_000, jitter: 0.5 },
};

export interface Failure {
  readonly outcome: Outcome;
  readonly status: number | undefined;
  /** The delay of the Retry-After header. */
  readonly retryAfterMs: number | undefined;
}

export type RetryReason = 'connection' | 'rate-limit' | 'gateway';

export type RetryDecision =
  | { readonly retry: false }
  | { readonly retry: true; readonly delayMs: number; readonly reason: RetryReason };

const gatewayStatuses: readonly number[] = [502, 503, 504];

/** A proxy could not reach the service, or the service was overloaded. */
export function isGatewayStatus(status: number): boolean {
  return gatewayStatuses.includes(status);
}

/**
 * Decides about one failed attempt (counted from 1). Requests that certainly had no effect are repeated;
 * beyond that only repeatable ones. After a lost answer to a POST, its caller searches for the object.
 */
export function decideRetry(
  failure: Failure,
  attempt: number,
  repeatable: Repeatable,
  policy: RetryPolicy,
  random: Random,
): RetryDecision {
  const reason = retryReason(failure);
  if (reason === undefined || attempt >= policy.attempts) return { retry: false };
  const harmless = failure.outcome !== 'unknown' || reason === 'rate-limit';
  if (!harmless && repeatable === 'no') return { retry: false };
  const delayMs = Math.max(
    backoffDelay(policy.backoff, attempt, random),
    failure.retryAfterMs ?? 0,
  );
  return { retry: true, delayMs, reason };
}

function retryReason(failure: Failure): RetryReason | undefined {
  if (failure.status === undefined) return 'connection';
  if (failure.status === 429) return 'rate-limit';
  return isGatewayStatus(failure.status) ? 'gateway' : undefined;
}

/** Seconds or an HTTP date, as milliseconds from now; undefined if it is neither. */
export function parseRetryAfter(value: string | undefined, wallTime: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  // An HTTP date begins with the day's name; Date.parse alone would accept almost anything.
  const date = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(date - wallTime, 0);
}
