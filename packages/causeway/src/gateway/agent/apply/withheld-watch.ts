import type { Clock } from '@causeway/base/time/clock';

/** A controller that is there confirms within a second or two, and no operator needs to look. */
const alarmAfterMs = 10_000;

/** Decides when withheld removals need an operator: when they have stayed withheld for long. */
export class WithheldWatch {
  readonly #clock: Clock;
  #since: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The alarm's message for as many withheld removals; undefined where there is no alarm. */
  alarm(count: number): string | undefined {
    if (count === 0) this.#since = undefined;
    else this.#since ??= this.#clock.monotonic();
    if (this.#since === undefined) return undefined;
    if (this.#clock.monotonic() - this.#since < alarmAfterMs) return undefined;
    return `${count} frontends are still served because no controller has confirmed their removal`;
  }
}
