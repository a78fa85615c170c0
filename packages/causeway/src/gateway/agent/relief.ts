import type { Family } from '@causeway/base/address/address';
import type { Clock } from '@causeway/base/time/clock';

/** Three times the interval in which a controller repeats the notice. */
const lastsMs = 30_000;

/** The controller's notice that another gateway reaches the backends. It expires without a repetition. */
export class Relief {
  readonly #clock: Clock;
  #until = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(isAvailable: boolean): void {
    const now = this.#clock.monotonic();
    this.#until = isAvailable ? now + lastsMs : Number.NEGATIVE_INFINITY;
  }

  get isAvailable(): boolean {
    return this.#clock.monotonic() < this.#until;
  }
}

/**
 * Why a gateway that reaches no backend of a family should not be active; undefined if it may be. Without
 * another gateway that reaches the backends, all nodes may be down, and yielding would only interrupt the
 * other family.
 */
export function cutOffIllness(
  cutOff: readonly Family[],
  { isAvailable }: Pick<Relief, 'isAvailable'>,
): string | undefined {
  if (cutOff.length === 0 || !isAvailable) return undefined;
  const families = cutOff.map((family) => `IPv${family}`).join(' and ');
  return `no backend answers over ${families}, and another gateway reaches the backends`;
}
