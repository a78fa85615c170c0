import type { Clock } from '@causeway/base/time/clock';

const firstMs = 2_000;
export const mostReminders = 8;

/**
 * When an announcer that was told something, and doesn't do it, is told again: after two seconds,
 * then after twice as long each time, eight times in all. How often it was is noted on the Service;
 * when it was is known only here, so after a restart the wait begins anew.
 */
export class Reminders {
  readonly #clock: Clock;
  /** Since when each Service says what it says, by UID. */
  readonly #said = new Map<string, { readonly what: string; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long to wait until it is told again; undefined when it was often enough. */
  waitMs(uid: string, what: string, times: number): number | undefined {
    const now = this.#clock.monotonic();
    const before = this.#said.get(uid);
    const since = before?.what === what ? before.since : now;
    this.#said.set(uid, { what, since });
    if (times >= mostReminders) return undefined;
    return Math.max(0, since + firstMs * 2 ** times - now);
  }

  forget(uid: string): void {
    this.#said.delete(uid);
  }
}
