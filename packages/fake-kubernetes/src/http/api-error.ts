import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import { ApiError } from '../status.ts';

/** Converts a thrown value to the ApiError of the response. Errors other than ApiErrors are logged. */
export function asApiError(thrown: unknown, log: Log): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const error = CausewayError.from(thrown);
  if (error.code !== 'aborted') log.error({ error }, 'the embedded API failed on a request');
  return new ApiError('InternalError', `Internal error occurred: ${error.message}`, {
    causes: [{ reason: '', message: error.message, field: '' }],
  });
}
