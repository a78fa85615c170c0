import type { Clock } from '@causeway/base/time/clock';

/** A running controller confirms within one or two seconds, without an operator. */
const alarmAfterMs = 10_000;

/** Decides when withheld removals need an operator: after they have been withheld for a long time. */
export class WithheldWatch {
  readonly #clock: Clock;
  #since: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The alarm's message for this number of withheld removals; undefined if there is no alarm. */
  alarm(count: number): string | undefined {
    if (count === 0) this.#since = undefined;
    else this.#since ??= this.#clock.monotonic();
    if (this.#since === undefined) return undefined;
    if (this.#clock.monotonic() - this.#since < alarmAfterMs) return undefined;
    return `${count} frontends are still served because no controller has confirmed their removal`;
  }
}
