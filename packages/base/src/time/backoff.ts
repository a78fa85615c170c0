import type { Random } from '../simulation/random.ts';

export interface BackoffPolicy {
  readonly baseMs: number;
  readonly maxMs: number;
  /** The share of the delay that is left to chance, 0 to 1, so that those who failed together don't return together. */
  readonly jitter: number;
}

/** The pace of client-go's controllers: 5 ms, doubling, 1000 s at most. */
export const controllerBackoff: BackoffPolicy = { baseMs: 5, maxMs: 1_000_000, jitter: 0 };

/** The delay before the next try after so many failures (1 is the first). Never above `maxMs`. */
export function backoffDelay(policy: BackoffPolicy, failures: number, random: Random): number {
  const doublings = Math.min(Math.max(failures - 1, 0), 52);
  const full = Math.min(policy.baseMs * 2 ** doublings, policy.maxMs);
  return full * (1 - policy.jitter * random());
}
