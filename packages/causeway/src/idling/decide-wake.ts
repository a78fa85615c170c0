/** What is known of one Service when somebody may want it awake. Times are milliseconds since 1970. */
export interface WakeInput {
  readonly isMarked: boolean;
  /** What the mark says; undefined if nobody can read it. */
  readonly idledAt: number | undefined;
  /** When we first saw this very mark. */
  readonly seenAt: number;
  /** The latest NeedPods Event; undefined if there is none. */
  readonly requestedAt: number | undefined;
  /** The request that an earlier waking has answered; undefined if there was none. */
  readonly answeredAt: number | undefined;
}

export type WakeDecision = 'awake' | 'asleep' | 'wake';

/**
 * A request counts if it is not older than the mark: older ones asked for an earlier sleep to end.
 * The mark carries the clock of whoever wrote it. One from the future must not make us deaf, so it
 * counts from when we saw it at the latest. Events have whole seconds; the same second counts, unless
 * that request has been answered already. Whoever still waits asks again.
 */
export function decideWake(input: WakeInput): WakeDecision {
  const { isMarked, idledAt, seenAt, requestedAt, answeredAt } = input;
  if (!isMarked) return 'awake';
  if (requestedAt === undefined) return 'asleep';
  if (answeredAt !== undefined && requestedAt <= answeredAt) return 'asleep';
  const since = Math.min(idledAt ?? seenAt, seenAt);
  return requestedAt >= Math.floor(since / 1000) * 1000 ? 'wake' : 'asleep';
}
