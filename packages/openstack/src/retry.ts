import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import type { Random } from '@causeway/base/simulation/random';
import type { Outcome } from './error.ts';

/** Whether doing the request twice is the same as doing it once. */
export type Repeatable = 'yes' | 'no';

export interface RetryPolicy {
  readonly attempts: number;
  readonly backoff: BackoffPolicy;
}

/** Half of each delay is left to chance, so that callers that failed together do not return together. */
export const defaultRetryPolicy: RetryPolicy = {
  attempts: 5,
  backoff: { baseMs: 250, maxMs: 8_000, jitter: 0.5 },
};

export interface Failure {
  readonly outcome: Outcome;
  readonly status: number | undefined;
  /** What the Retry-After header asks for. */
  readonly retryAfterMs: number | undefined;
}

export type RetryReason = 'connection' | 'rate-limit' | 'gateway';

export type RetryDecision =
  | { readonly retry: false }
  | { readonly retry: true; readonly delayMs: number; readonly reason: RetryReason };

const gatewayStatuses: readonly number[] = [502, 503, 504];

/** The service itself was not reached, or it had no time. */
export function isGatewayStatus(status: number): boolean {
  return gatewayStatuses.includes(status);
}

/**
 * Decides about one failed attempt (counted from 1). Repeated is what did not happen for certain, and
 * beyond that only what may happen twice: a POST whose answer got lost is its caller's to look up.
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

/** Seconds or an HTTP date, as milliseconds from now; undefined when it is neither. */
export function parseRetryAfter(value: string | undefined, wallTime: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  // An HTTP date begins with the day's name; Date.parse alone would take almost anything.
  const date = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(date - wallTime, 0);
}
