/** What the idle switch knows of one Service. Times are milliseconds of a monotonic clock. */
export interface SwitchInput {
  /** It carries the mark of a Service that sleeps. */
  readonly isMarked: boolean;
  /** In any of its slices, however many there are. */
  readonly hasReadyEndpoint: boolean;
  /** Whether its connections are held so far. */
  readonly isHeld: boolean;
  /** When the mark went while connections were held; undefined while it is there. */
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
 * A Service sleeps if it is marked and nothing is ready. OpenShift's controller takes the mark away as
 * soon as it has scaled up, long before a pod is ready: such a Service is held for a while longer.
 * A Service that is empty and was never asleep refuses, and is none of ours.
 */
export function decideSwitch(input: SwitchInput): SwitchDecision {
  const { isMarked, hasReadyEndpoint, isHeld, unmarkedAt, now, graceMs } = input;
  if (hasReadyEndpoint) return { kind: 'serve' };
  if (isMarked) return { kind: 'hold' };
  if (!isHeld) return { kind: 'serve' };
  const time = (unmarkedAt ?? now) + graceMs;
  return now < time ? { kind: 'hold-until', time } : { kind: 'serve' };
}
