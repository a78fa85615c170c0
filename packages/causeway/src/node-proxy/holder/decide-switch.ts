/** What the idle switch knows of one Service. Times are milliseconds of a monotonic clock. */
export interface SwitchInput {
  /** It carries the mark of a Service that sleeps. */
  readonly isMarked: boolean;
  /** Each of its ports has a ready endpoint in each family, in whichever slices. */
  readonly isReady: boolean;
  /** When the mark went; undefined while it is there, and if it never was. */
  readonly unmarkedAt: number | undefined;
  readonly now: number;
  /** How long connections are still held after the mark has gone. */
  readonly graceMs: number;
}

export type SwitchDecision =
  | { readonly kind: 'serve' }
  | { readonly kind: 'hold' }
  /** Hold, and look again then, because nobody may tell us. */
  | { readonly kind: 'hold-until'; readonly time: number };

/**
 * A Service is held if it is marked and anything of it is not ready. OpenShift's controller takes the mark away as
 * soon as it has scaled up, long before a pod is ready; and the pods of before may still be named when
 * the mark goes, and leave after it. Such a Service is held for a while longer. One that is empty and was
 * never asleep refuses, and is none of ours.
 */
export function decideSwitch(input: SwitchInput): SwitchDecision {
  const { isMarked, isReady, unmarkedAt, now, graceMs } = input;
  if (isReady) return { kind: 'serve' };
  if (isMarked) return { kind: 'hold' };
  if (unmarkedAt === undefined) return { kind: 'serve' };
  const time = unmarkedAt + graceMs;
  return now < time ? { kind: 'hold-until', time } : { kind: 'serve' };
}
