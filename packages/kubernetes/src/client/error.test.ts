import { describe, expect, it } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { KubeError, codeOf, isGone } from './error.ts';

describe('KubeError', () => {
  it("carries the server's message", () => {
    const error = KubeError.fromStatus('update services default/web', 422, {
      reason: 'Invalid',
      message: 'Service "web" is invalid',
      details: { causes: [{ field: 'spec.ports', reason: 'FieldValueRequired' }] },
    });
    expect(error).toMatchObject({
      code: 'invalid',
      status: 422,
      reason: 'Invalid',
      message: 'update services default/web: Service "web" is invalid',
      causes: [{ field: 'spec.ports', reason: 'FieldValueRequired' }],
    });
  });

  it('prefers the Retry-After header to the body', () => {
    const status = { details: { retryAfterSeconds: 5 } };
    expect(KubeError.fromStatus('x', 429, status, 2).retryAfterMs).toBe(2000);
    expect(KubeError.fromStatus('x', 429, status).retryAfterMs).toBe(5000);
    expect(KubeError.fromStatus('x', 500, undefined).retryAfterMs).toBeUndefined();
  });

  it.each([
    [400, undefined, undefined, 'invalid'],
    [401, 'Unauthorized', undefined, 'unauthorized'],
    [403, 'Forbidden', 'no', 'forbidden'],
    [403, 'Forbidden', 'pods "a" is forbidden: exceeded quota: q', 'exhausted'],
    [404, 'NotFound', undefined, 'not-found'],
    [409, 'AlreadyExists', undefined, 'conflict'],
    [410, 'Expired', undefined, 'gone'],
    [500, 'Expired', undefined, 'gone'],
    [429, 'TooManyRequests', undefined, 'unavailable'],
    [500, undefined, undefined, 'unavailable'],
    [503, undefined, undefined, 'unavailable'],
    [504, 'Timeout', undefined, 'timeout'],
    [418, undefined, undefined, 'internal'],
  ] as const)('answers %s %s %s with %s', (status, reason, message, code) =>
    expect(codeOf(status, reason, message)).toBe(code),
  );

  it("keeps aborts and Causeway's errors unchanged, and converts others to unavailable", () => {
    const own = new CausewayError('invalid', 'x');
    expect(KubeError.fromTransport('get', own)).toBe(own);
    const abort = Object.assign(new Error('stop'), { name: 'AbortError' });
    expect(KubeError.fromTransport('get', abort).code).toBe('aborted');
    const refused = new AggregateError([new Error('connect ECONNREFUSED 127.0.0.1:1')]);
    expect(KubeError.fromTransport('get', refused)).toMatchObject({
      code: 'unavailable',
      message: 'get: connect ECONNREFUSED 127.0.0.1:1',
    });
  });

  it('suggests no role if the namespace is being deleted', () => {
    const forbidden = (reason: string) =>
      KubeError.fromStatus('create events', 403, { details: { causes: [{ reason }] } });
    const late = forbidden('NamespaceTerminating');
    expect([late.code, late.isOfTerminatingNamespace, late.hint]).toEqual([
      ...['forbidden', true, undefined],
    ]);
    expect(forbidden('Other').hint).toContain('Grant');
  });

  it('recognizes when a new list is needed', () => {
    expect(isGone(KubeError.fromStatus('watch', 410, undefined))).toBe(true);
    expect(isGone(KubeError.fromStatus('watch', 500, undefined))).toBe(false);
  });
});
