import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { groupByFrontend } from '../apply/acknowledge.ts';
import { UpdateRejected } from '../apply/admit.ts';
import { ApplyFailed } from '../gateway.ts';
import { describeProblem } from '../../protocol/rejection.ts';
import { BodyTooLarge, UnsupportedMedia } from './body.ts';

export interface Reply {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Why a request was rejected. Controllers and metrics use the one-word reason. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
  /** The thrown error, for the log. */
  readonly error?: unknown;
}

export function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof UpdateRejected) {
    return { status: thrown.reason === 'frozen' ? 423 : 409, reason: thrown.reason };
  }
  if (thrown instanceof BodyTooLarge) return { status: 413, reason: 'too-large' };
  if (thrown instanceof UnsupportedMedia) return { status: 415, reason: 'unsupported-media' };
  if (thrown instanceof ApplyFailed) return { status: 500, reason: 'apply-failed' };
  if (thrown instanceof z.ZodError) return { status: 400, reason: 'invalid' };
  const { code } = CausewayError.from(thrown);
  switch (code) {
    case 'unauthorized':
      return { status: 401, reason: 'unauthorized' };
    case 'not-found':
      return { status: 404, reason: 'not-found' };
    case 'conflict':
      return { status: 409, reason: 'conflict' };
    case 'unsupported':
      return { status: 400, reason: 'unsupported-revision' };
    case 'exhausted':
      return { status: 503, reason: 'overloaded' };
    case 'invalid':
      return { status: 400, reason: 'invalid' };
    case 'aborted':
    case 'unavailable':
    case 'timeout':
      return { status: 503, reason: 'unavailable' };
    case 'forbidden':
    case 'gone':
    case 'internal':
      return { status: 500, reason: 'internal' };
  }
}

export function errorReply(thrown: unknown): Reply {
  const { status, reason } = refusalOf(thrown);
  const error = CausewayError.from(thrown);
  const frontends = thrown instanceof ApplyFailed ? groupByFrontend(thrown.complaints) : [];
  return {
    status,
    body: {
      error: {
        reason,
        message: describeProblem(thrown instanceof z.ZodError ? thrown : new Error(error.message)),
        ...(error.hint === undefined ? {} : { hint: describeProblem(new Error(error.hint)) }),
      },
      ...(frontends.length === 0 ? {} : { errors: frontends }),
    },
  };
}
