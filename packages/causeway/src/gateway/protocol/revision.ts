import { CausewayError } from '@causeway/base/error/causeway-error';

/** A range of supported revisions of `/v2`. */
export interface Revisions {
  readonly oldest: number;
  readonly newest: number;
}

/**
 * The revisions that this version of Causeway supports. Revision 2 added frontends that are routed to nodes.
 * Revision 3 added separate records for source ranges. Revision 4 added `withholdRemovals` to the header.
 */
export const revisions: Revisions = { oldest: 1, newest: 4 };
/** The first revision in which frontends name their source ranges by an ID. */
export const sharesRanges = 3;
/** The first revision in which a controller can ask the agent to withhold all removals of an update. */
export const withholdsOnRequest = 4;

/**
 * The newest revision that both sides support, for the controller to write. One side may be one version ahead
 * of the other; a larger difference is not supported.
 */
export function commonRevision(mine: Revisions, theirs: Revisions): number {
  const common = Math.min(mine.newest, theirs.newest);
  if (common >= mine.oldest && common >= theirs.oldest) return common;
  throw new CausewayError(
    'unsupported',
    `the agent supports the revisions ${theirs.oldest} to ${theirs.newest} of /v2, and the controller ${mine.oldest} to ${mine.newest}`,
    {
      hint: 'Upgrade one version at a time. Agents and controller can be upgraded in either order.',
    },
  );
}

export function understands(mine: Revisions, revision: number): boolean {
  return revision >= mine.oldest && revision <= mine.newest;
}
