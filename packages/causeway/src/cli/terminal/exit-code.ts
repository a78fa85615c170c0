import type { ErrorCode } from '@causeway/base/error/causeway-error';

/** What the exit code of `causeway` tells a script. Listed in the command line reference. */
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
  success: 'it did what was asked',
  failure: 'it failed; the message says why',
  usage: 'the command line is wrong: an unknown command, option or argument',
  invalid: 'the configuration or the input is wrong',
  unauthorized: 'the credentials are wrong or may not do this',
  notFound: 'what was asked for does not exist',
  unavailable: 'the other side could not be reached or took too long; trying again may help',
  interrupted: 'it was interrupted by a signal before it was done',
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
