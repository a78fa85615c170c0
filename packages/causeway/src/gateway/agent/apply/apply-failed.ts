import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Rejection } from '../../protocol/rejection.ts';

/** An apply that failed as a whole, with all known errors of single frontends. */
export class ApplyFailed extends CausewayError {
  readonly complaints: readonly Rejection[];

  constructor(cause: unknown, complaints: readonly Rejection[]) {
    const error = CausewayError.from(cause);
    super(error.code, error.message, {
      cause,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
    this.complaints = complaints;
  }
}
