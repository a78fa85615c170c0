import { withholdsOnRequest } from '../../protocol/revision.ts';
import type { UpdateOptions } from '../../protocol/write-update.ts';

export interface GuardFacts {
  /** The agent withholds removals. An older version rejects the whole update instead. */
  readonly withholds: boolean;
  readonly revision: number;
  /** The generation that a delta starts from; undefined for a full state. */
  readonly base: number | undefined;
  readonly cluster?: string | undefined;
  readonly meansRemoval: boolean;
}

/**
 * The header fields of an update for the agent's guard against wrong removals. A delta removes only frontends
 * that this controller had in its state. A full state also removes frontends that this controller never had:
 * their Services were deleted, or the controller's lists lack them. So the agent withholds these removals until
 * the controller has verified each of them.
 */
export function guardFields(
  facts: GuardFacts,
): Pick<UpdateOptions, 'cluster' | 'meansRemoval' | 'withholdRemovals'> {
  const { withholds, revision, base, cluster, meansRemoval } = facts;
  if (!withholds) return { meansRemoval };
  const isRequested = base === undefined && revision >= withholdsOnRequest;
  return { cluster, ...(isRequested ? { withholdRemovals: true } : {}) };
}
