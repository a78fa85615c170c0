import { describe, expect, it } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { KubeError } from './error.ts';
import { retryDelay } from './retry.ts';
import type { Method } from './transport.ts';

const noJitter = () => 0;
const answered = (status: number, retryAfterSeconds?: number) =>
  KubeError.fromStatus('x', status, undefined, retryAfterSeconds);
const unanswered = new KubeError('unavailable', 'reset');

describe('retryDelay', () => {
  it.each<[string, Method, number, CausewayError, number | undefined]>([
    ['a read that was not answered', 'GET', 1, unanswered, 100],
    ['the same, third failure', 'GET', 3, unanswered, 400],
    ['the same, last failure', 'GET', 5, unanswered, undefined],
    ['a read from a failing server', 'GET', 1, answered(500), 100],
    ['a read through a gateway that timed out', 'GET', 1, answered(504), 100],
    ['a read of a missing object', 'GET', 1, answered(404), undefined],
    ['a read with an aborted caller', 'GET', 1, new CausewayError('aborted', 'x'), undefined],
    ['a write that was not answered', 'POST', 1, unanswered, undefined],
    ['a write to a failing server', 'PATCH', 1, answered(500), undefined],
    ['a write to a server that gives a delay', 'PATCH', 1, answered(503, 2), 2_000],
    ['a throttled write', 'POST', 1, answered(429, 3), 3_000],
    ['a throttled write without a delay', 'DELETE', 2, answered(429), 200],
    ['a delay above the limit', 'GET', 1, answered(429, 3_600), undefined],
    ['a write with a conflict', 'PUT', 1, answered(409), undefined],
  ])('for %s (%s, failure %i)', (_, method, failures, error, expected) => {
    expect(retryDelay(method, failures, error, noJitter)).toBe(expected);
  });

  it('spreads callers that failed together', () => {
    expect(retryDelay('GET', 1, unanswered, () => 0.999)).toBeCloseTo(50, 0);
  });
});
