import type { Clock } from '@causeway/base/time/clock';

/** The present time as the API writes it: RFC 3339 to the second. */
export function now(clock: Clock): string {
  return `${new Date(clock.wallTime()).toISOString().slice(0, 19)}Z`;
}
