import type { Frontend, FrontendKey } from '../../protocol/frontend.ts';
import type { Change, Edits, GatewayState, Kept } from '../store/state.ts';
import type { Update } from '../../protocol/update.ts';

/** Limits for removals in one update without a confirmation. The share and the number both apply. */
export interface RemovalLimits {
  readonly share: number;
  readonly count: number;
  /** An operator allows the removal. */
  readonly isAllowed?: boolean;
}

/** The removal guard's decision on an update. */
export interface RemovalDecision {
  /** The removals that are withheld after the update, including those of earlier updates. */
  readonly withheld: ReadonlySet<FrontendKey>;
  /** Withheld removals of earlier updates that are applied now. */
  readonly released: ReadonlySet<FrontendKey>;
  /** The update uses the operator's permission, which applies to one update. */
  readonly usesPermission: boolean;
  /** Why removals are newly withheld. */
  readonly reason: string;
}

/**
 * Decides which removals of an update are withheld: too many at once, and all of another cluster or of an
 * update with unverified removals. A removal of an earlier update stays withheld until it is confirmed,
 * even if the next update has few removals. `wanted` returns whether the update has a record for the frontend,
 * valid or not: such a frontend is not removed.
 */
export function decideRemovals(
  state: GatewayState,
  push: Update,
  removed: ReadonlySet<FrontendKey>,
  wanted: (key: FrontendKey) => boolean,
  limits: RemovalLimits,
): RemovalDecision {
  const before = withheldIn(state);
  const waiting = new Set([...before].filter((key) => !wanted(key)));
  const fresh = removed.difference(before);
  const served = state.frontends.size - before.size;
  const isForeign = isOfOtherCluster(state, push);
  const isLarge = exceedsLimits(fresh.size, served, limits);
  const needsConfirmation = isForeign || push.header.withholdRemovals;
  const exceeds = needsConfirmation ? fresh.size > 0 : isLarge;
  const origin = isForeign ? `, which comes from another cluster (${push.header.cluster}),` : '';
  const reason = `the update to generation ${push.header.generation}${origin} removes ${fresh.size} of ${served} frontends; the removal waits for a confirmation`;
  if (push.header.meansRemoval && !isForeign) {
    const released = waiting.intersection(removed);
    return { withheld: waiting.difference(removed), released, usesPermission: false, reason };
  }
  if (limits.isAllowed === true) {
    const usesPermission = exceeds || waiting.size > 0;
    return { withheld: new Set(), released: waiting, usesPermission, reason };
  }
  const withheld = exceeds ? waiting.union(fresh) : waiting;
  return { withheld, released: new Set(), usesPermission: false, reason };
}

/** Whether an update may not remove so many frontends without a confirmation. */
export function exceedsLimits(
  removed: number,
  served: number,
  { count, share }: RemovalLimits,
): boolean {
  return removed > count && removed > share * served;
}

/** The controller of another cluster knows nothing of the frontends of this one. */
function isOfOtherCluster({ cluster }: GatewayState, { header }: Update): boolean {
  return cluster !== undefined && header.cluster !== undefined && header.cluster !== cluster;
}

/** The frontends with a withheld removal. */
export function withheldIn({ kept }: GatewayState): Set<FrontendKey> {
  const keys = new Set<FrontendKey>();
  for (const [key, { isWithheld }] of kept) if (isWithheld === true) keys.add(key);
  return keys;
}

/** The edits without withheld removals and with released ones. */
export function applyDecision(
  frontends: Edits<FrontendKey, Frontend>,
  { withheld, released }: RemovalDecision,
): Map<FrontendKey, Frontend | undefined> {
  const result = new Map(frontends);
  for (const key of withheld) result.delete(key);
  for (const key of released) result.set(key, undefined);
  return result;
}

/** The entries for newly withheld removals. */
export function withheldNotes(
  state: GatewayState,
  { withheld, reason }: RemovalDecision,
): Map<FrontendKey, Kept> {
  const notes = new Map<FrontendKey, Kept>();
  for (const key of withheld) {
    const before = state.kept.get(key);
    if (before?.isWithheld === true) continue;
    const generation = before?.generation ?? state.generation;
    notes.set(key, { generation, reason, isWithheld: true });
  }
  return notes;
}

/** The change that applies these withheld removals. It keeps the generation that requested them. */
export function confirmedRemovals(state: GatewayState, keys: Iterable<FrontendKey>): Change {
  const confirmed = withheldIn(state).intersection(new Set(keys));
  const gone = new Map([...confirmed].map((key) => [key, undefined] as const));
  return {
    generation: state.generation,
    digest: state.digest,
    frontends: gone,
    kept: gone,
    policies: new Map(),
    assignments: new Map(),
    nodes: new Map(),
  };
}
