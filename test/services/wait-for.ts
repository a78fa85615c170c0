import { setTimeout as delay } from 'node:timers/promises';

/** Far more than anything takes, even on a busy machine. */
export const patienceMs = 400_000;

/** Thrown by a condition that can't become true any more. */
export class HopelessError extends Error {}

/**
 * Waits until the condition returns a value other than undefined or false, and returns it. Errors count as
 * "not yet"; the timeout error contains the last one.
 */
export async function waitFor<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  options: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const { timeoutMs = patienceMs, intervalMs = 50 } = options;
  const end = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await condition();
      if (answer !== undefined && answer !== false) return answer;
      lastError = undefined;
    } catch (error) {
      if (error instanceof HopelessError) throw error;
      lastError = error;
    }
    if (performance.now() > end) {
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`, { cause: lastError });
    }
    await delay(intervalMs);
  }
}
