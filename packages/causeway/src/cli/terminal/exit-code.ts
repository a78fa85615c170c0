import type { ErrorCode } from '@causeway/base/error/causeway-error';

/** The exit codes of `causeway` for scripts. Listed in the command line reference. */
export const exitCodes = {
  success: 0,
  failure: 1,
  usage: 2,
  invalid: 3,
  unauthorized: 4,
  notFound: 5,
  unavailable: 6,
  interrupted: 130,
} as const;

export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  success: 'success',
  failure: 'failure; the message has the reason',
  usage: 'the command line is wrong: an unknown command, option or argument',
  invalid: 'the configuration or the input is wrong',
  unauthorized: 'the credentials are wrong or may not do this',
  notFound: 'a named object does not exist',
  unavailable: 'the other side could not be reached or took too long; a retry may help',
  interrupted: 'interrupted by a signal before the end',
};

export function exitCodeOf(code: ErrorCode): number {
  switch (code) {
    case 'invalid':
      return exitCodes.invalid;
    case 'unauthorized':
    case 'forbidden':
      return exitCodes.unauthorized;
    case 'not-found':
    case 'gone':
      return exitCodes.notFound;
    case 'unavailable':
    case 'timeout':
      return exitCodes.unavailable;
    case 'aborted':
      return exitCodes.interrupted;
    case 'conflict':
    case 'exhausted':
    case 'internal':
    case 'unsupported':
      return exitCodes.failure;
  }
}
