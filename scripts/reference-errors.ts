import type { ErrorCode } from '../packages/base/src/error/causeway-error.ts';

/** Meaning of each code, and the role that can act on it. */
export const errorMeanings: Readonly<Record<ErrorCode, { actor: string; meaning: string }>> = {
  aborted: { actor: 'the caller', meaning: 'the caller gave up' },
  conflict: {
    actor: 'Causeway',
    meaning: 'another writer was faster; Causeway reads again and retries',
  },
  exhausted: { actor: 'the operator', meaning: 'a quota or a pool is used up' },
  forbidden: { actor: 'the operator', meaning: 'the credentials lack a permission' },
  gone: { actor: 'Causeway', meaning: 'the known state is too old; Causeway reads it again' },
  internal: { actor: 'Causeway', meaning: 'a defect' },
  invalid: { actor: 'the user', meaning: 'the input can never work as it is' },
  'not-found': { actor: 'Causeway, or the user', meaning: 'it does not exist' },
  timeout: { actor: 'none; retry later', meaning: 'it took too long' },
  unauthorized: { actor: 'the operator', meaning: 'the credentials are wrong' },
  unavailable: { actor: 'none; retry later', meaning: 'the other side is unreachable' },
  unsupported: { actor: 'none', meaning: 'the other side does not support it' },
};

export const errorCodes = Object.keys(errorMeanings) as ErrorCode[];

/**
 * Reasons for which an agent rejects a request. `npm run docs` compares it with the sources, in both
 * directions.
 */
export const agentRefusals: Readonly<Record<string, { status: number; meaning: string }>> = {
  invalid: { status: 400, meaning: 'the request is not well formed' },
  'unsupported-revision': {
    status: 400,
    meaning: 'the revision is unknown to this agent',
  },
  unauthorized: {
    status: 401,
    meaning: 'the token is missing, wrong, or made for another request',
  },
  'not-found': { status: 404, meaning: 'there is no such request' },
  conflict: { status: 409, meaning: 'it does not match the agent’s state' },
  stale: { status: 409, meaning: 'a newer update was applied already' },
  'base-mismatch': {
    status: 409,
    meaning: 'a delta without its base at the agent; send a full update',
  },
  'another-cluster': {
    status: 409,
    meaning:
      'it confirms withheld removals of frontends that another cluster sent; an operator can allow them',
  },
  'too-large': { status: 413, meaning: 'the body is larger than the agent’s limit' },
  'unsupported-media': { status: 415, meaning: 'the body has an unsupported type' },
  frozen: { status: 423, meaning: 'an operator has frozen the agent' },
  'apply-failed': {
    status: 500,
    meaning: 'the kernel or keepalived rejected it; the previous state stays applied',
  },
  internal: { status: 500, meaning: 'a defect; the log has the details' },
  overloaded: { status: 503, meaning: 'too many requests at once; try again' },
  unavailable: { status: 503, meaning: 'it was interrupted; try again' },
};
