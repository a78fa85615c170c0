import type { Clock } from '@causeway/base/time/clock';

/** The current time in the format of the API: RFC 3339, precise to the second. */
export function now(clock: Clock): string {
  return `${new Date(clock.wallTime()).toISOString().slice(0, 19)}Z`;
}
