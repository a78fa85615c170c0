import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Gateway } from '../gateway.ts';
import { gatewayMetrics } from '../metric-definitions.ts';
import { agreedHealth } from './agreed-health.ts';

/** Three times the interval in which a controller repeats its list. */
export const handedLastsMs = 30_000;
/** Also the retry interval after a failure: an unhealthy backend must be removed within a few probes. */
const checkEveryMs = 1_000;

/** Combines the probe results with the controller's list, and passes the result to the gateway. */
export class BackendHealth {
  readonly #gateway: Pick<Gateway, 'setUnhealthy'>;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #isControllerPresent: () => boolean;
  readonly #led;
  #own: ReadonlySet<Address> = new Set();
  #handed: ReadonlySet<Address> | undefined;
  #handedAt = 0;
  /** The last result could not be applied. */
  #isOwed = false;

  constructor(
    gateway: Pick<Gateway, 'setUnhealthy'>,
    options: { readonly log: Log; readonly clock: Clock; readonly metrics: Metrics },
    isControllerPresent: () => boolean,
  ) {
    this.#gateway = gateway;
    this.#log = options.log;
    this.#clock = options.clock;
    this.#isControllerPresent = isControllerPresent;
    this.#led = options.metrics.gauge(gatewayMetrics.led);
    this.#led.set({}, 0);
  }

  get own(): ReadonlySet<Address> {
    return this.#own;
  }

  see(own: ReadonlySet<Address>): void {
    this.#own = own;
  }

  hand(handed: ReadonlySet<Address>): void {
    this.#handed = handed;
    this.#led.set({}, 1);
    this.#handedAt = this.#clock.monotonic();
  }

  /** Drops the list of a disconnected controller. It sends a new one when it returns. */
  controllerLeft(): void {
    this.#handed = undefined;
    this.#led.set({}, 0);
  }

  /**
   * Drops an expired list. A running controller repeats its list, but a controller that lost power leaves a
   * stream that seems alive. Returns whether the list was dropped.
   */
  expire(): boolean {
    if (this.#handed === undefined) return false;
    if (this.#clock.monotonic() - this.#handedAt < handedLastsMs) return false;
    this.controllerLeft();
    return true;
  }

  /** Checks at intervals whether the list has expired or a failure needs a retry. */
  async recheck(onDue: () => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#clock, checkEveryMs, signal);
      if (this.expire() || this.#isOwed) onDue();
    }
  }

  /** Applies the current result. A failure is logged and retried at the next check. */
  async act(signal: AbortSignal): Promise<void> {
    const unhealthy = agreedHealth({
      own: this.#own,
      handed: this.#handed,
      isControllerPresent: this.#isControllerPresent(),
    });
    try {
      await this.#gateway.setUnhealthy(unhealthy, signal);
      this.#isOwed = false;
    } catch (error) {
      if (signal.aborted) return;
      this.#isOwed = true;
      this.#log.warn({ error: CausewayError.from(error) }, "unhealthy backends can't be removed");
    }
  }
}
