import { type Clock, systemClock } from '../../packages/base/src/time/clock.ts';

/** Pauses pass many times faster: for clouds that need no time for their work. */
const quickClock: Clock = {
  ...systemClock,
  timer: (delayMs, callback) => systemClock.timer(delayMs / 50, callback),
};

/** Options of a cloud with short pauses and unchanged deadlines. */
export const quickPauses = {
  clock: quickClock,
  deadlineMs: 3_000_000,
  attemptDeadlineMs: 1_500_000,
};
