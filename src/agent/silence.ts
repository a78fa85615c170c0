import type { Address } from '../domain/address.ts';
import { CausewayError } from '../domain/error.ts';
import type { Log } from '../runtime/log.ts';
import type { Gateway } from './gateway.ts';
import { agreedSilence } from './probe/agreed-silence.ts';

/** Brings together what the probes see, what the controller hands out, and what the gateway acts on. */
export class Silence {
  readonly #gateway: Gateway;
  readonly #log: Log;
  readonly #isControllerPresent: () => boolean;
  #own: ReadonlySet<Address> = new Set();
  #handed: ReadonlySet<Address> | undefined;

  constructor(gateway: Gateway, log: Log, isControllerPresent: () => boolean) {
    this.#gateway = gateway;
    this.#log = log;
    this.#isControllerPresent = isControllerPresent;
  }

  get own(): ReadonlySet<Address> {
    return this.#own;
  }

  see(own: ReadonlySet<Address>): void {
    this.#own = own;
  }

  hand(handed: ReadonlySet<Address>): void {
    this.#handed = handed;
  }

  /** A controller that left hands out nothing; when it comes back it starts anew. */
  controllerLeft(): void {
    this.#handed = undefined;
  }

  /** Acts on what is agreed now. A failure is told and tried again with the next change. */
  async act(signal: AbortSignal): Promise<void> {
    const silent = agreedSilence({
      own: this.#own,
      handed: this.#handed,
      isControllerPresent: this.#isControllerPresent(),
    });
    try {
      await this.#gateway.setSilent(silent, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#log.warn(
        { error: CausewayError.from(error) },
        "silent destinations can't be taken out",
      );
    }
  }
}
