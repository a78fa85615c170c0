import type { Random } from '../simulation/random.ts';

export interface BackoffPolicy {
  readonly baseMs: number;
  readonly maxMs: number;
  /** The random share of the delay, 0 to 1. It prevents simultaneous retries after a common failure. */
  readonly jitter: number;
}

/** The backoff of client-go's controllers: 5 ms, doubling, 1000 s at most. */
export const controllerBackoff: BackoffPolicy = { baseMs: 5, maxMs: 1_000_000, jitter: 0 };

/** The delay before the next attempt after this many failures (1 is the first). Never exceeds `maxMs`. */
export function backoffDelay(policy: BackoffPolicy, failures: number, random: Random): number {
  const doublings = Math.min(Math.max(failures - 1, 0), 52);
  const full = Math.min(policy.baseMs * 2 ** doublings, policy.maxMs);
  return full * (1 - policy.jitter * random());
}
