/** The known facts about one Service with a possible wake request. Times are milliseconds since 1970. */
export interface WakeInput {
  readonly isMarked: boolean;
  /** The time in the mark; undefined if it is unreadable. */
  readonly idledAt: number | undefined;
  /** When the controller first saw this mark. */
  readonly seenAt: number;
  /** The latest NeedPods Event; undefined if there is none. */
  readonly requestedAt: number | undefined;
  /** The request that an earlier wake-up has answered; undefined if there was none. */
  readonly answeredAt: number | undefined;
}

export type WakeDecision = 'awake' | 'asleep' | 'wake';

/**
 * A request counts if it is not older than the mark: older requests belong to an earlier idle period. The
 * mark has the clock of its writer. A mark with a future time must not block requests, so it counts from when
 * the controller saw it at the latest. Events have whole seconds. A request in the same second counts, unless
 * it has been answered already. A client that still waits causes another request.
 */
export function decideWake(input: WakeInput): WakeDecision {
  const { isMarked, idledAt, seenAt, requestedAt, answeredAt } = input;
  if (!isMarked) return 'awake';
  if (requestedAt === undefined) return 'asleep';
  if (answeredAt !== undefined && requestedAt <= answeredAt) return 'asleep';
  const since = Math.min(idledAt ?? seenAt, seenAt);
  return requestedAt >= Math.floor(since / 1000) * 1000 ? 'wake' : 'asleep';
}
