import {
  CausewayError,
  type ErrorCode,
  type ErrorOptions,
} from '@causeway/base/error/causeway-error';

export type ServiceName = 'identity' | 'network' | 'load-balancer';

/**
 * Whether a failed request changed anything in the service.
 *
 * - `not-sent`: it never reached the service, so repeating it is always safe
 * - `refused`: the service answered that it did nothing
 * - `unknown`: the answer was lost; the write may have happened
 */
export type Outcome = 'not-sent' | 'refused' | 'unknown';

export interface OpenStackErrorDetails extends ErrorOptions {
  readonly service: ServiceName;
  readonly outcome: Outcome;
  /** The HTTP status, where there was an answer. */
  readonly status?: number;
  /** OpenStack's ID of the request, as its logs show it. */
  readonly requestId?: string;
  /** The message of the service, without our additions. */
  readonly serviceMessage?: string;
  readonly invalidCredentials?: boolean;
  readonly isKeystoneRefusal?: boolean;
}

/** A failed request to an OpenStack service. */
export class OpenStackError extends CausewayError {
  readonly service: ServiceName;
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly serviceMessage: string | undefined;
  /** Keystone itself refused the credentials. Retrying can't help until the credentials change. */
  readonly invalidCredentials: boolean;
  /** The answer comes from Keystone and concerns the request. It is not a page at a wrong address. */
  readonly isKeystoneRefusal: boolean;

  constructor(code: ErrorCode, message: string, details: OpenStackErrorDetails) {
    super(code, message, details);
    this.service = details.service;
    this.outcome = details.outcome;
    this.status = details.status;
    this.requestId = details.requestId;
    this.serviceMessage = details.serviceMessage;
    this.invalidCredentials = details.invalidCredentials ?? false;
    this.isKeystoneRefusal = details.isKeystoneRefusal ?? false;
  }
}

/** True only if Keystone refused them. If Keystone is unreachable, the answer is false. */
export function areCredentialsInvalid(thrown: unknown): boolean {
  return thrown instanceof OpenStackError && thrown.invalidCredentials;
}
