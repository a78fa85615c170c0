import { describe, expect, it } from 'vitest';
import { decideRetry, parseRetryAfter, type Failure, type RetryPolicy } from './retry.ts';

const policy: RetryPolicy = { attempts: 3, backoff: { baseMs: 100, maxMs: 1_000, jitter: 0 } };
const connection = (outcome: Failure['outcome']): Failure => ({
  outcome,
  status: undefined,
  retryAfterMs: undefined,
});
const answered = (status: number, retryAfterMs?: number): Failure => ({
  outcome: status < 500 ? 'refused' : 'unknown',
  status,
  retryAfterMs,
});

describe('decideRetry', () => {
  it.each([
    // failure, repeatable, retried?
    ['never sent', connection('not-sent'), 'no', true],
    ['never sent', connection('not-sent'), 'yes', true],
    ['answer lost', connection('unknown'), 'no', false],
    ['answer lost', connection('unknown'), 'yes', true],
    ['429', answered(429), 'no', true],
    ['429', answered(429), 'yes', true],
    ['502', answered(502), 'no', false],
    ['502', answered(502), 'yes', true],
    ['503', answered(503), 'no', false],
    ['503', answered(503), 'yes', true],
    ['503 of a service that did nothing', { ...answered(503), outcome: 'refused' }, 'no', true],
    ['504', answered(504), 'no', false],
    ['504', answered(504), 'yes', true],
    ['500', answered(500), 'yes', false],
    ['400', answered(400), 'yes', false],
    ['401', answered(401), 'yes', false],
    ['404', answered(404), 'yes', false],
    ['409', answered(409), 'yes', false],
  ] as const)('%s, repeatable: %s -> %s', (_name, failure, repeatable, retried) => {
    expect(decideRetry(failure, 1, repeatable, policy, () => 0).retry).toBe(retried);
  });

  it('gives up after the last attempt', () => {
    expect(decideRetry(answered(503), 2, 'yes', policy, () => 0).retry).toBe(true);
    expect(decideRetry(answered(503), 3, 'yes', policy, () => 0).retry).toBe(false);
  });

  it('waits at least as long as Retry-After demands', () => {
    expect(decideRetry(answered(429, 7_000), 1, 'no', policy, () => 0)).toEqual({
      retry: true,
      delayMs: 7_000,
      reason: 'rate-limit',
    });
    expect(decideRetry(answered(429, 1), 1, 'no', policy, () => 0)).toMatchObject({ delayMs: 100 });
  });
});

describe('parseRetryAfter', () => {
  const now = Date.UTC(2026, 0, 1, 12, 0, 0);
  it.each([
    [undefined, undefined],
    ['3', 3_000],
    [' 3', 3_000],
    ['Thu, 01 Jan 2026 12:00:05 GMT', 5_000],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
  ])('%s -> %s', (text, expected) => {
    expect(parseRetryAfter(text, now)).toBe(expected);
  });
});
