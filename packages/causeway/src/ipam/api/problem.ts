import { z } from 'zod';
import { CausewayError, type ErrorCode } from '@causeway/base/error/causeway-error';
import { withoutControls } from '@causeway/base/text/printable';
import { Refusal, refusalReasons } from '../refusal.ts';

/** The body of every answer that is not a success. */
export const problemSchema = z.looseObject({
  code: z.string(),
  reason: z.string().optional(),
  message: z.string(),
  hint: z.string().optional(),
});
export type Problem = z.infer<typeof problemSchema>;

const statuses: Readonly<Record<ErrorCode, number>> = {
  aborted: 503,
  conflict: 409,
  exhausted: 507,
  forbidden: 403,
  gone: 410,
  internal: 500,
  invalid: 400,
  'not-found': 404,
  timeout: 504,
  unauthorized: 401,
  unavailable: 503,
  unsupported: 501,
};

export function problemOf(error: CausewayError): { status: number; problem: Problem } {
  // Internal failures are logged; the caller gets no details.
  if (error.code === 'internal') {
    return { status: 500, problem: { code: 'internal', message: 'the server failed' } };
  }
  return {
    status: statuses[error.code],
    problem: {
      code: error.code,
      ...(error instanceof Refusal ? { reason: error.reason } : {}),
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    },
  };
}

/** Limit for texts that end up in a log, an Event or a terminal. Control characters are removed too. */
const mostSaid = 1_000;
const said = (text: string) => withoutControls(text.slice(0, mostSaid));

/**
 * Converts a server's answer to an error. An answer in another format comes from a proxy or another server,
 * whatever its status: no decision was made then. Unknown codes of a newer server fall back to the status.
 */
export function errorOf(status: number, body: unknown): CausewayError {
  const parsed = problemSchema.safeParse(body);
  if (!parsed.success) {
    return new CausewayError(
      'unavailable',
      `the answer with status ${status} is not from an allocator`,
      {
        hint: 'Check where the URL leads, and which proxies are on the way.',
      },
    );
  }
  const { message, hint, reason: word } = parsed.data;
  const code = codeFrom(status, parsed.data.code);
  const options = hint === undefined ? {} : { hint: said(hint) };
  const reason = refusalReasons.find((each) => each === word);
  return reason === undefined
    ? new CausewayError(code, said(message), options)
    : new Refusal(code, reason, said(message), options);
}

function codeFrom(status: number, word: string): ErrorCode {
  // The server gave up because it is stopping: the client can ask another server.
  if (word === 'aborted') return 'unavailable';
  const known = (Object.keys(statuses) as ErrorCode[]).find((each) => each === word);
  return known ?? (status >= 500 || status === 429 ? 'unavailable' : 'invalid');
}
