import type { Clock } from '@causeway/base/time/clock';
import type { FrontendKey } from '../../protocol/frontend.ts';
import { isFromV1 } from '../../protocol/v1-digest.ts';
import type { GatewayState } from '../store/state.ts';
import { exceedsLimits, withheldIn, type RemovalLimits } from './withhold.ts';

/** The original controller sends its full state within seconds after its first push. */
export const v1RemovalAfterMs = 60_000;

/**
 * The withheld removals of a `/v1` controller that apply now. That controller can't confirm removals, but it
 * sends everything each time. So the removals apply after no push has named the frontends for a minute. After
 * an empty push they apply only if the removal limits allow so many; otherwise they wait for a push with
 * frontends or for an operator.
 */
export function dueV1Removals(
  state: GatewayState,
  withheldForMs: number,
  limits: RemovalLimits,
): ReadonlySet<FrontendKey> {
  const withheld = withheldIn(state);
  if (!isFromV1(state.digest) || withheldForMs < v1RemovalAfterMs) return new Set();
  const isEmpty = withheld.size === state.frontends.size;
  const isAllowed = !isEmpty || !exceedsLimits(withheld.size, state.frontends.size, limits);
  return isAllowed ? withheld : new Set();
}

/** Measures how long the same removals of a `/v1` controller have been withheld. */
export class V1Removals {
  readonly #clock: Clock;
  readonly #limits: RemovalLimits;
  #withheld: ReadonlySet<FrontendKey> = new Set();
  #since = 0;

  constructor(clock: Clock, limits: RemovalLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  due(state: GatewayState): ReadonlySet<FrontendKey> {
    const withheld = withheldIn(state);
    const now = this.#clock.monotonic();
    if (withheld.symmetricDifference(this.#withheld).size > 0) this.#since = now;
    this.#withheld = withheld;
    return dueV1Removals(state, now - this.#since, this.#limits);
  }
}
