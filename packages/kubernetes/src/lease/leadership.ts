import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import type { LeaseGuard } from '@causeway/base/work/lease-guard';

/**
 * The right to write, for as long as nobody else can have it. It ends by our own monotonic clock, well
 * before others may take the lease over, whether or not we notice anything: a process that was
 * suspended finds it expired when it wakes up. One whose whole machine was does not, since that clock stood
 * still, too; it has to `confirm` when something says that another one leads. Give it to `client.withFence`.
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
    throw new CausewayError('aborted', `the lease ${this.#lease} is lost: another may lead now`, {
      hint: 'The process should end and start again; it must not write any more.',
    });
  }

  /** How the lease is renewed at once. */
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
