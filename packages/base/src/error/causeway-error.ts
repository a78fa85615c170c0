/**
 * What went wrong, in the words a caller decides by. Each code answers one question:
 * whose move is next?
 *
 * - `invalid`: the user's; the input can never work as it is
 * - `unauthorized`, `forbidden`: the operator's; credentials or permissions
 * - `not-found`, `conflict`, `gone`: ours; look again and decide anew
 * - `exhausted`: the operator's; a quota or a pool is used up
 * - `unavailable`, `timeout`: time's; try again later
 * - `unsupported`: nobody's here; the other side cannot do it
 * - `aborted`: the caller itself gave up
 * - `internal`: ours; a defect
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
  /** What the reader can do about it, as a sentence. */
  readonly hint?: string;
}

/** The base of every error that Causeway throws on purpose. */
export class CausewayError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint;
  }

  /** Whatever was thrown, as a CausewayError: ours as they are, aborts recognised, the rest internal. */
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
