import {
  CausewayError,
  type ErrorCode,
  type ErrorOptions,
} from '@causeway/base/error/causeway-error';

/** Reason of a refusal, more specific than an error code: clients show it to the user. */
export const refusalReasons = [
  'address-in-use',
  'address-outside',
  'address-resting',
  'moved',
  'other-address',
  'pool-exhausted',
  'pool-in-use',
  'quota',
  'recovering',
  'stale-fencing-token',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export class Refusal extends CausewayError {
  readonly reason: RefusalReason;

  constructor(code: ErrorCode, reason: RefusalReason, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.reason = reason;
  }
}
