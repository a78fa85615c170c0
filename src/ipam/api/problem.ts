import { z } from 'zod';
import { CausewayError, type ErrorCode } from '../../domain/error.ts';
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

/** The error that a server's answer stands for. Codes of a newer server fall back to the status. */
export function errorOf(status: number, body: unknown): CausewayError {
  const parsed = problemSchema.safeParse(body);
  const code = (Object.keys(statuses) as ErrorCode[]).find((each) => each === parsed.data?.code);
  const fallback = status >= 500 ? 'unavailable' : status === 429 ? 'unavailable' : 'invalid';
  const message = parsed.data?.message ?? `the server answered with status ${status}`;
  const options = parsed.data?.hint === undefined ? {} : { hint: parsed.data.hint };
  const reason = refusalReasons.find((each) => each === parsed.data?.reason);
  return reason === undefined
    ? new CausewayError(code ?? fallback, message, options)
    : new Refusal(code ?? fallback, reason, message, options);
}
