import { CausewayError } from '@causeway/base/error/causeway-error';

/** The expression is invalid CEL, or it uses CEL features that this package doesn't support. */
export class CelSyntaxError extends CausewayError {
  constructor(message: string) {
    super('unsupported', message);
  }
}

/**
 * The expression can't be evaluated for these values, for example because of a missing key or a division by
 * zero.
 */
export class CelEvaluationError extends CausewayError {
  constructor(message: string) {
    super('invalid', message);
  }
}
