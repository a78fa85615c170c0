import {
  CausewayError,
  type ErrorCode,
  type ErrorOptions,
} from '@causeway/base/error/causeway-error';
import type { Status, StatusCause } from '../objects/object.ts';

export interface KubeErrorDetails extends ErrorOptions {
  /** The HTTP status, or undefined if no answer arrived. */
  readonly status?: number | undefined;
  /** The API's machine-readable reason, such as `AlreadyExists`. */
  readonly reason?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** An error answer of the Kubernetes API, or a missing answer. */
export class KubeError extends CausewayError {
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  /** The server's requested delay. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, details: KubeErrorDetails = {}) {
    super(code, message, details);
    this.status = details.status;
    this.reason = details.reason;
    this.causes = details.causes ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }

  /** From a failed answer; `what` describes the request, such as `get services default/web`. */
  static fromStatus(
    what: string,
    httpStatus: number,
    status: Status | undefined,
    retryAfterSeconds?: number,
  ): KubeError {
    const reason = status?.reason;
    const code = codeOf(httpStatus, reason, status?.message);
    const seconds = retryAfterSeconds ?? status?.details?.retryAfterSeconds;
    return new KubeError(code, `${what}: ${status?.message ?? `HTTP status ${httpStatus}`}`, {
      status: httpStatus,
      reason,
      causes: status?.details?.causes,
      retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
      ...(isTerminating(status?.details?.causes) ? {} : hintFor(code)),
    });
  }

  /** Whether creation is rejected because the namespace is being deleted. */
  get isOfTerminatingNamespace(): boolean {
    return isTerminating(this.causes);
  }

  /** From a failure below HTTP: refused, reset, interrupted, TLS. */
  static fromTransport(what: string, thrown: unknown): CausewayError {
    if (thrown instanceof CausewayError) return thrown;
    const known = CausewayError.from(thrown);
    if (known.code === 'aborted' || known.code === 'timeout') return known;
    return new KubeError('unavailable', `${what}: ${describe(thrown)}`, {
      cause: thrown,
      hint: 'Check that the API server is running and reachable from here, and that its certificate is trusted.',
    });
  }
}

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  405: 'unsupported',
  406: 'unsupported',
  408: 'timeout',
  409: 'conflict',
  410: 'gone',
  413: 'invalid',
  415: 'unsupported',
  422: 'invalid',
  429: 'unavailable',
  501: 'unsupported',
  504: 'timeout',
};

export function codeOf(
  httpStatus: number,
  reason: string | undefined,
  message: string | undefined,
): ErrorCode {
  // Watch errors arrive inside a 200 and some proxies rewrite statuses, so the reason counts too.
  if (reason === 'Expired' || reason === 'Gone') return 'gone';
  if (httpStatus === 403 && message?.includes('exceeded quota') === true) return 'exhausted';
  return codes[httpStatus] ?? (httpStatus >= 500 ? 'unavailable' : 'internal');
}

const hints: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'The credentials were refused: log in again or check the token or certificate.',
  forbidden: 'Grant this identity the named verb on the named resource with a Role or ClusterRole.',
  exhausted: 'Raise the quota of the namespace or remove objects from it.',
};

/** The server answers 403, but no role would help. */
function isTerminating(causes: readonly StatusCause[] = []): boolean {
  return causes.some(({ reason }) => reason === 'NamespaceTerminating');
}

function hintFor(code: ErrorCode): { readonly hint?: string } {
  const hint = hints[code];
  return hint === undefined ? {} : { hint };
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown instanceof AggregateError && thrown.message === '') {
    return thrown.errors.map(describe).join('; ');
  }
  return thrown.message === '' ? thrown.name : thrown.message;
}

/** Whether the server no longer has this version: a new list is needed. */
export function isGone(thrown: unknown): boolean {
  return thrown instanceof CausewayError && thrown.code === 'gone';
}
