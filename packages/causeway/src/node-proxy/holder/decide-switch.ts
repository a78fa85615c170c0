/** State of one Service for the decision whether it is held. Times are milliseconds of a monotonic clock. */
export interface SwitchInput {
  /** The Service has the idle annotation. */
  readonly isMarked: boolean;
  /** Each of its ports has a ready endpoint in each family, in any of its slices. */
  readonly isReady: boolean;
  /** Time at which the annotation was removed; undefined while it is present, and if it never was. */
  readonly unmarkedAt: number | undefined;
  readonly now: number;
  /** How long connections are still held after the annotation was removed. */
  readonly graceMs: number;
}

export type SwitchDecision =
  | { readonly kind: 'serve' }
  | { readonly kind: 'hold' }
  /** Hold, and check again at this time, because no change may arrive. */
  | { readonly kind: 'hold-until'; readonly time: number };

/**
 * A Service is held if it is annotated as idle and any port is not ready. OpenShift's controller removes the
 * annotation as soon as it has scaled up, long before a pod is ready. The slices may also still list the old
 * pods then. Such a Service is held for a grace period. An empty Service that was never idle rejects
 * connections and is not held.
 */
export function decideSwitch(input: SwitchInput): SwitchDecision {
  const { isMarked, isReady, unmarkedAt, now, graceMs } = input;
  if (isReady) return { kind: 'serve' };
  if (isMarked) return { kind: 'hold' };
  if (unmarkedAt === undefined) return { kind: 'serve' };
  const time = unmarkedAt + graceMs;
  return now < time ? { kind: 'hold-until', time } : { kind: 'serve' };
}
