/**
 * The kind of an error, by which a caller decides what to do:
 *
 * - `invalid`: the user must change the input
 * - `unauthorized`, `forbidden`: the operator must fix credentials or permissions
 * - `not-found`, `conflict`, `gone`: the caller reads the state again and decides again
 * - `exhausted`: the operator must enlarge a quota or a pool
 * - `unavailable`, `timeout`: the caller tries again later
 * - `unsupported`: the other side does not support the operation
 * - `aborted`: the caller aborted the operation
 * - `internal`: a defect in Causeway
 */
export type ErrorCode =
  | 'aborted'
  | 'conflict'
  | 'exhausted'
  | 'forbidden'
  | 'gone'
  | 'internal'
  | 'invalid'
  | 'not-found'
  | 'timeout'
  | 'unauthorized'
  | 'unavailable'
  | 'unsupported';

export interface ErrorOptions {
  readonly cause?: unknown;
  /** What the reader can do about the error, as a sentence. */
  readonly hint?: string;
}

/** The base class of all errors that Causeway throws. */
export class CausewayError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint;
  }

  /**
   * Converts any thrown value. A CausewayError is returned unchanged, aborts and timeouts get their code, all
   * else is `internal`.
   */
  static from(thrown: unknown): CausewayError {
    if (thrown instanceof CausewayError) return thrown;
    if (thrown instanceof Error) {
      const code =
        thrown.name === 'AbortError'
          ? 'aborted'
          : thrown.name === 'TimeoutError'
            ? 'timeout'
            : 'internal';
      return new CausewayError(code, thrown.message, { cause: thrown });
    }
    return new CausewayError('internal', String(thrown), { cause: thrown });
  }
}

export function isErrorCode(thrown: unknown, code: ErrorCode): boolean {
  return thrown instanceof CausewayError && thrown.code === code;
}
