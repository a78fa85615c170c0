import type { ErrorCode } from '../packages/base/src/error/causeway-error.ts';

/** What each code means, and who can do something about it. */
export const errorMeanings: Readonly<Record<ErrorCode, { move: string; meaning: string }>> = {
  aborted: { move: 'the caller’s', meaning: 'the caller gave up' },
  conflict: { move: 'ours', meaning: 'somebody was quicker; it is looked at anew' },
  exhausted: { move: 'the operator’s', meaning: 'a quota or a pool is used up' },
  forbidden: { move: 'the operator’s', meaning: 'the credentials may not do this' },
  gone: { move: 'ours', meaning: 'what was known is too old; it is looked at anew' },
  internal: { move: 'ours', meaning: 'a defect' },
  invalid: { move: 'the user’s', meaning: 'the input can never work as it is' },
  'not-found': { move: 'ours, or the user’s', meaning: 'it does not exist' },
  timeout: { move: 'time’s', meaning: 'it took too long' },
  unauthorized: { move: 'the operator’s', meaning: 'the credentials are wrong' },
  unavailable: { move: 'time’s', meaning: 'the other side can not be reached' },
  unsupported: { move: 'nobody’s here', meaning: 'the other side can not do it' },
};

export const errorCodes = Object.keys(errorMeanings) as ErrorCode[];

/** Why an agent refuses a request. `npm run docs` compares it with the sources, both ways. */
export const agentRefusals: Readonly<Record<string, { status: number; meaning: string }>> = {
  invalid: { status: 400, meaning: 'the request is not well formed' },
  'unsupported-revision': {
    status: 400,
    meaning: 'it is of a revision that this agent does not know',
  },
  unauthorized: {
    status: 401,
    meaning: 'the token is missing, wrong, or made for another request',
  },
  'not-found': { status: 404, meaning: 'there is no such request' },
  conflict: { status: 409, meaning: 'it does not fit what the agent has' },
  stale: { status: 409, meaning: 'a newer push was taken already' },
  'base-mismatch': {
    status: 409,
    meaning: 'a change of something that the agent does not have; send the whole',
  },
  'another-cluster': {
    status: 409,
    meaning:
      'it confirms withheld removals of frontends that another cluster sent; an operator can allow them',
  },
  'too-large': { status: 413, meaning: 'the body is larger than the agent’s limit' },
  'unsupported-media': { status: 415, meaning: 'the body is of a type that is not taken' },
  frozen: { status: 423, meaning: 'an operator has frozen the agent' },
  'apply-failed': {
    status: 500,
    meaning: 'the kernel or keepalived did not take it; what was served is served on',
  },
  internal: { status: 500, meaning: 'a defect; the log has it' },
  overloaded: { status: 503, meaning: 'too much at once; try again' },
  unavailable: { status: 503, meaning: 'it was cut off; try again' },
};
