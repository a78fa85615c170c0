import {
  CausewayError,
  type ErrorCode,
  type ErrorOptions,
} from '@causeway/base/error/causeway-error';

export type ServiceName = 'identity' | 'network' | 'load-balancer';

/**
 * Whether a failed request changed anything on the other side.
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
  /** OpenStack's own id of the request, to be looked up in its logs. */
  readonly requestId?: string;
  /** The service's words, without ours around them. */
  readonly serviceMessage?: string;
  readonly invalidCredentials?: boolean;
  readonly isKeystoneRefusal?: boolean;
}

/** A request to an OpenStack service that failed. */
export class OpenStackError extends CausewayError {
  readonly service: ServiceName;
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly serviceMessage: string | undefined;
  /** Keystone itself refused the credentials: trying again cannot help until someone changes them. */
  readonly invalidCredentials: boolean;
  /** The answer is Keystone's own word on what it was asked, not that of a page at a wrong address. */
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

/** True only where Keystone said so; a Keystone that cannot be reached leaves the question open. */
export function areCredentialsInvalid(thrown: unknown): boolean {
  return thrown instanceof OpenStackError && thrown.invalidCredentials;
}
