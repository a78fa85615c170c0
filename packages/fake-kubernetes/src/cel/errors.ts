import { CausewayError } from '@causeway/base/error/causeway-error';

/** The expression is not CEL, or is more of CEL than is understood here. */
export class CelSyntaxError extends CausewayError {
  constructor(message: string) {
    super('unsupported', message);
  }
}

/** The expression could not be worked out for these values: a missing key, a division by zero. */
export class CelEvaluationError extends CausewayError {
  constructor(message: string) {
    super('invalid', message);
  }
}
