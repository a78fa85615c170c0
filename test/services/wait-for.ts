import { setTimeout as delay } from 'node:timers/promises';

/** Far more than anything takes, also on a machine that has a lot of other things to do. */
export const patienceMs = 400_000;

/** Thrown by a condition that can't come about any more: there is nothing to wait for. */
export class HopelessError extends Error {}

/**
 * Waits until the condition answers with something other than undefined or false, and answers with
 * that. Errors count as "not yet"; the last one is told when the time is up.
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
      throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: lastError });
    }
    await delay(intervalMs);
  }
}
