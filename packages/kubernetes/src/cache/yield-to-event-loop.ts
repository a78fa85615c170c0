import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@causeway/base/time/clock';

/** Called now and then during long work; answers with a promise when others should have their turn. */
export type YieldToEventLoop = () => Promise<void> | undefined;

/** One turn of the event loop is held for so long at most. */
const budgetMs = 8;

/**
 * For one piece of work that would otherwise not let the event loop turn. On a simulated clock, which
 * stands still while code runs, it never waits.
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
