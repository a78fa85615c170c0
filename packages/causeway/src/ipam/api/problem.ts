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
  // What goes wrong inside is for the log, not for whoever asked.
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

/** Said in a log, an Event or a terminal: no more than that, and nothing that steers it. */
const mostSaid = 1_000;
const said = (text: string) => withoutControls(text.slice(0, mostSaid));

/**
 * The error that a server's answer stands for. One that is not in our form is of a proxy or a stranger on the
 * way, whatever its status: nobody has decided anything then. Codes of a newer server fall back to the status.
 */
export function errorOf(status: number, body: unknown): CausewayError {
  const parsed = problemSchema.safeParse(body);
  if (!parsed.success) {
    return new CausewayError('unavailable', `something answered with status ${status}`, {
      hint: 'It is no allocator: look where its URL leads, and what stands on the way.',
    });
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
  // It is the server that gave up, because it ends: another one can be asked.
  if (word === 'aborted') return 'unavailable';
  const known = (Object.keys(statuses) as ErrorCode[]).find((each) => each === word);
  return known ?? (status >= 500 || status === 429 ? 'unavailable' : 'invalid');
}
