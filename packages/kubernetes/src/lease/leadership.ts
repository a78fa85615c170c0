import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import type { LeaseGuard } from '@causeway/base/work/lease-guard';

/**
 * The right to write, while no other process can have it. It ends by our own monotonic clock, well before
 * others may take over the lease: a suspended process finds it expired when it resumes. After a suspension of
 * the whole machine it does not, because that clock stopped too. The process then has to `confirm` when
 * something indicates another leader. Pass it to `client.withLeaseGuard`.
 */
export class Leadership implements LeaseGuard {
  readonly #clock: Clock;
  readonly #lease: string;
  #validUntil: number;
  #renew: ((signal: AbortSignal) => Promise<void>) | undefined;

  constructor(lease: string, clock: Clock, validUntil: number) {
    this.#lease = lease;
    this.#clock = clock;
    this.#validUntil = validUntil;
  }

  get isHeld(): boolean {
    return this.#clock.monotonic() < this.#validUntil;
  }

  remainingMs(): number {
    const remaining = this.#validUntil - this.#clock.monotonic();
    if (remaining > 0) return remaining;
    throw new CausewayError(
      'aborted',
      `the lease ${this.#lease} is lost: another process may lead now`,
      {
        hint: 'The process becomes a candidate again; this work must not write any more.',
      },
    );
  }

  /** Sets the function that renews the lease immediately. */
  renewedBy(renew: (signal: AbortSignal) => Promise<void>): void {
    this.#renew = renew;
  }

  async confirm(signal: AbortSignal): Promise<void> {
    this.remainingMs();
    await this.#renew?.(signal);
  }

  /** Counted from before the renewal was sent: others count from after it arrived. */
  extend(validUntil: number): void {
    this.#validUntil = validUntil;
  }

  end(): void {
    this.#validUntil = Number.NEGATIVE_INFINITY;
  }
}
