import { CausewayError, type ErrorCode } from '@causeway/base/error/causeway-error';

/** Reason of a rejection, as in `metav1.StatusReason`. */
export type StatusReason =
  | 'AlreadyExists'
  | 'BadRequest'
  | 'Conflict'
  | 'Expired'
  | 'Forbidden'
  | 'Gone'
  | 'InternalError'
  | 'Invalid'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'NotFound'
  | 'RequestEntityTooLarge'
  | 'ServiceUnavailable'
  | 'Timeout'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'Unknown'
  | 'UnsupportedMediaType';

/** One cause of a rejection, as in `metav1.StatusCause`. */
export interface Cause {
  /** `FieldValueRequired`, `FieldValueInvalid`, `FieldManagerConflict`, … */
  readonly reason: string;
  readonly message: string;
  /** Path of the field, `spec.ports[0].port`. */
  readonly field: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

/** A `metav1.Status` in its wire format. */
export interface StatusBody {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: object;
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code?: number;
}

const reasons: Readonly<Record<StatusReason, readonly [httpStatus: number, code: ErrorCode]>> = {
  AlreadyExists: [409, 'conflict'],
  BadRequest: [400, 'invalid'],
  Conflict: [409, 'conflict'],
  Expired: [410, 'gone'],
  Forbidden: [403, 'forbidden'],
  Gone: [410, 'gone'],
  InternalError: [500, 'internal'],
  Invalid: [422, 'invalid'],
  MethodNotAllowed: [405, 'unsupported'],
  NotAcceptable: [406, 'unsupported'],
  NotFound: [404, 'not-found'],
  RequestEntityTooLarge: [413, 'invalid'],
  ServiceUnavailable: [503, 'unavailable'],
  Timeout: [504, 'timeout'],
  TooManyRequests: [429, 'unavailable'],
  Unauthorized: [401, 'unauthorized'],
  Unknown: [500, 'internal'],
  UnsupportedMediaType: [415, 'unsupported'],
};

/** A rejection by the embedded API. Handlers throw it, and the client gets it as a Status. */
export class ApiError extends CausewayError {
  readonly reason: StatusReason;
  readonly httpStatus: number;
  readonly details: StatusDetails | undefined;

  constructor(reason: StatusReason, message: string, details?: StatusDetails, hint?: string) {
    const [httpStatus, code] = reasons[reason];
    super(code, message, hint === undefined ? {} : { hint });
    this.reason = reason;
    this.httpStatus = httpStatus;
    this.details = details;
  }

  toStatus(): StatusBody {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === 'Unknown' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.httpStatus,
    };
  }
}

/** Identity of an object in messages: `services "x"`, `deployments.apps "x"`. */
export interface ObjectIdentity {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly name: string;
}

const qualified = (group: string, name: string) => (group === '' ? name : `${name}.${group}`);

/** The details of a rejection contain the plural, except for `Invalid`, which contains the kind. */
function detailsOf(object: ObjectIdentity, kind: string): StatusDetails {
  return {
    ...(object.name === '' ? {} : { name: object.name }),
    ...(object.group === '' ? {} : { group: object.group }),
    kind,
  };
}

export function notFound(object: ObjectIdentity): ApiError {
  const what = qualified(object.group, object.plural);
  return new ApiError(
    'NotFound',
    `${what} "${object.name}" not found`,
    detailsOf(object, object.plural),
  );
}

export function alreadyExists(object: ObjectIdentity): ApiError {
  const what = qualified(object.group, object.plural);
  return new ApiError(
    'AlreadyExists',
    `${what} "${object.name}" already exists`,
    detailsOf(object, object.plural),
  );
}

export function conflict(object: ObjectIdentity, why: string): ApiError {
  const what = qualified(object.group, object.plural);
  return new ApiError(
    'Conflict',
    `Operation cannot be fulfilled on ${what} "${object.name}": ${why}`,
    detailsOf(object, object.plural),
  );
}

export function forbidden(
  object: ObjectIdentity,
  why: string,
  causes?: readonly Cause[],
): ApiError {
  const what = qualified(object.group, object.plural);
  return new ApiError('Forbidden', `${what} "${object.name}" is forbidden: ${why}`, {
    ...detailsOf(object, object.plural),
    ...(causes === undefined ? {} : { causes }),
  });
}

/** The 422 rejection. The message contains every cause: a single cause as is, several in brackets. */
export function invalid(object: ObjectIdentity, causes: readonly Cause[]): ApiError {
  const lines = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const list = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  const what = qualified(object.group, object.kind);
  return new ApiError('Invalid', `${what} "${object.name}" is invalid: ${list}`, {
    ...detailsOf(object, object.kind),
    causes,
  });
}

/** A rejection that the client did not cause: an exhausted range or an internal error. */
export function internalError(why: string): ApiError {
  // The server gives neither a reason nor a field here.
  const causes = [{ message: why } as Cause];
  return new ApiError('InternalError', `Internal error occurred: ${why}`, { causes });
}

/** The 422 rejection of an invalid query, which refers to no object. */
export function invalidOptions(kind: string, causes: readonly Cause[]): ApiError {
  return invalid({ group: 'meta.k8s.io', plural: '', kind, name: '' }, causes);
}
