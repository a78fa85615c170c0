import { CausewayError, type ErrorCode } from '@causeway/base/error/causeway-error';

/** Meaning of etcd's gRPC status codes. The others are defects: 2 unknown, 12 unimplemented, 13 internal. */
const codes: Readonly<Record<number, ErrorCode>> = {
  1: 'aborted',
  3: 'invalid',
  4: 'timeout',
  5: 'not-found',
  7: 'forbidden',
  8: 'unavailable',
  9: 'unavailable',
  10: 'unavailable',
  11: 'gone',
  14: 'unavailable',
  16: 'unauthorized',
};

/** Status 8 also means "too many requests". Waiting doesn't fix a full database. */
const noSpace = 'database space exceeded';

export function grpcError(status: number, message: string): CausewayError {
  if (status === 8 && message.includes(noSpace)) {
    return new CausewayError('exhausted', `etcd: ${message}`, {
      hint: 'Compact and defragment it, or raise its --quota-backend-bytes; then "etcdctl alarm disarm". A shorter auditRetentionDays needs less.',
    });
  }
  return new CausewayError(
    codes[status] ?? 'unavailable',
    `etcd: ${message || `status ${status}`}`,
  );
}

/** A call that the connection could not carry: it may or may not have reached etcd. */
export function connectionError(endpoint: string, error: unknown): CausewayError {
  const cause = CausewayError.from(error);
  return new CausewayError('unavailable', `etcd at ${endpoint}: ${cause.message}`, { cause });
}
