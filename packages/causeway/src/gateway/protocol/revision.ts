import { CausewayError } from '@causeway/base/error/causeway-error';

/** A span of revisions of `/v2` that one side understands: its own and the one before. */
export interface Revisions {
  readonly oldest: number;
  readonly newest: number;
}

/**
 * What this version of Causeway understands. Revision 2 added endpoints that are routed to nodes, revision
 * 3 source ranges in a record of their own.
 */
export const revisions: Revisions = { oldest: 1, newest: 3 };
/** From here on endpoints name their source ranges by an id. */
export const sharesRanges = 3;

/**
 * The newest revision that both sides understand, for a controller to write in. One of the two may be a
 * version ahead of the other; further apart they can't speak.
 */
export function commonRevision(mine: Revisions, theirs: Revisions): number {
  const common = Math.min(mine.newest, theirs.newest);
  if (common >= mine.oldest && common >= theirs.oldest) return common;
  throw new CausewayError(
    'unsupported',
    `the agent understands the revisions ${theirs.oldest} to ${theirs.newest} of /v2, and we ${mine.oldest} to ${mine.newest}`,
    { hint: 'Upgrade one version at a time, agents or controller first as you like.' },
  );
}

export function understands(mine: Revisions, revision: number): boolean {
  return revision >= mine.oldest && revision <= mine.newest;
}
