import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import { ApiError } from '../status.ts';

/** What is answered for whatever a handler threw. What is not meant for the client is logged. */
export function asApiError(thrown: unknown, log: Log): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const error = CausewayError.from(thrown);
  if (error.code !== 'aborted') log.error({ error }, 'the embedded API failed on a request');
  return new ApiError('InternalError', `Internal error occurred: ${error.message}`, {
    causes: [{ reason: '', message: error.message, field: '' }],
  });
}
