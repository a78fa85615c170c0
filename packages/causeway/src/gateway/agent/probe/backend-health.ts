import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Gateway } from '../gateway.ts';
import { gatewayMetrics } from '../gateway-metrics.ts';
import { agreedHealth } from './agreed-health.ts';

/** Three times as long as a controller takes to hand it again. */
export const handedLastsMs = 30_000;
/** Also how soon a failure is tried again: a destination is to be out within a few probes. */
const checkEveryMs = 1_000;

/** Brings together what the probes see, what the controller hands out, and what the gateway acts on. */
export class BackendHealth {
  readonly #gateway: Pick<Gateway, 'setUnhealthy'>;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #isControllerPresent: () => boolean;
  readonly #led;
  #own: ReadonlySet<Address> = new Set();
  #handed: ReadonlySet<Address> | undefined;
  #handedAt = 0;
  /** What was agreed last could not be acted on. */
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

  /** A controller that left hands out nothing; when it comes back it starts anew. */
  controllerLeft(): void {
    this.#handed = undefined;
    this.#led.set({}, 0);
  }

  /**
   * Forgets what was handed too long ago: a controller that is there hands it again and again, one whose
   * power was cut leaves a stream that looks alive. Answers whether that changes anything.
   */
  expire(): boolean {
    if (this.#handed === undefined) return false;
    if (this.#clock.monotonic() - this.#handedAt < handedLastsMs) return false;
    this.controllerLeft();
    return true;
  }

  /** Looks from time to time whether what was handed is too old, or something has failed before. */
  async recheck(onDue: () => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#clock, checkEveryMs, signal);
      if (this.expire() || this.#isOwed) onDue();
    }
  }

  /** Acts on what is agreed now. A failure is told and tried again with the next look. */
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
      this.#log.warn(
        { error: CausewayError.from(error) },
        "silent destinations can't be taken out",
      );
    }
  }
}
