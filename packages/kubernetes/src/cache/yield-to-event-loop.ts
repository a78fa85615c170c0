import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@causeway/base/time/clock';

/** Called at intervals during long work; returns a promise when the event loop should run. */
export type YieldToEventLoop = () => Promise<void> | undefined;

/** Longest uninterrupted work in the event loop. */
const budgetMs = 8;

/**
 * For work that would otherwise block the event loop. On a simulated clock, which does not advance while code
 * runs, it never waits.
 */
export function startWork(clock: Clock): YieldToEventLoop {
  let busySince = clock.monotonic();
  return () => {
    if (clock.monotonic() - busySince < budgetMs) return undefined;
    return nextTurn().then(() => {
      busySince = clock.monotonic();
    });
  };
}
