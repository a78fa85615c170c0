import type { Clock } from '@causeway/base/time/clock';

const firstMs = 2_000;
export const mostReminders = 8;

/**
 * Schedules repeated announcements to an announcer that does not react: after two seconds, then with doubled
 * intervals, eight times in all. The number of repetitions is stored on the Service. The time is only in
 * memory, so the interval starts again after a restart.
 */
export class Reminders {
  readonly #clock: Clock;
  /** Since when each Service has its current announcement, by UID. */
  readonly #said = new Map<string, { readonly what: string; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time until the next repetition; undefined after the last one. */
  waitMs(uid: string, what: string, times: number): number | undefined {
    const now = this.#clock.monotonic();
    const before = this.#said.get(uid);
    const since = before?.what === what ? before.since : now;
    this.#said.set(uid, { what, since });
    if (times >= mostReminders) return undefined;
    return Math.max(0, since + firstMs * 2 ** times - now);
  }

  drop(uid: string): void {
    this.#said.delete(uid);
  }
}
