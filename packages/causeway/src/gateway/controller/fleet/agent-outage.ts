import type { CausewayError } from '@causeway/base/error/causeway-error';

/** Why and since when a gateway does not answer or does not accept updates, if so. */
export class AgentOutage {
  #failure: CausewayError | undefined;
  #failures = 0;
  #since: number | undefined;

  /** The last failure; undefined while the gateway answers. */
  get failure(): CausewayError | undefined {
    return this.#failure;
  }

  /** The number of failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** The duration of the outage at this time; undefined while the gateway answers. */
  durationMs(now: number): number | undefined {
    return this.#since === undefined ? undefined : now - this.#since;
  }

  /** Records a failed request. The outage counts from the request, not from its timeout. */
  fail(failure: CausewayError, askedAt: number): void {
    this.#failure = failure;
    this.#failures += 1;
    this.#since ??= askedAt;
  }

  end(): void {
    this.#failure = undefined;
    this.#failures = 0;
    this.#since = undefined;
  }
}
