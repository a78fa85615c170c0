import type { Address } from '@causeway/base/address/address';
import type { AddressClaim } from './neighbour-binding.ts';

/** Time that a claim is kept. A machine that uses an address repeats its claim. */
const claimLifetimeMs = 15_000;
/** Time after a failover in which claims of the previous active gateway may still arrive. */
const handoverMs = 2_000;

/** Claims of other machines to this gateway's addresses while it is active. */
export class DuplicateClaims {
  readonly #seen = new Map<Address, { hardware: string; at: number }>();
  #activeSince: number | undefined;

  /** `now` is in milliseconds of a monotonic clock. */
  setActive(isActive: boolean, now: number): void {
    if (!isActive) {
      this.#activeSince = undefined;
      this.#seen.clear();
    } else {
      this.#activeSince ??= now;
    }
  }

  /** Records a claim of foreign hardware to an address of this gateway. */
  hear({ address, hardware }: AddressClaim, now: number): void {
    if (this.#activeSince === undefined || now - this.#activeSince < handoverMs) return;
    this.#seen.set(address, { hardware, at: now });
  }

  /** The alarm message; undefined without current claims. */
  complaint(now: number): string | undefined {
    for (const [address, { at }] of this.#seen) {
      if (now - at >= claimLifetimeMs) this.#seen.delete(address);
    }
    const [first] = this.#seen;
    if (first === undefined) return undefined;
    const [address, { hardware }] = first;
    const more = this.#seen.size === 1 ? '' : `, and ${this.#seen.size - 1} more`;
    return `${address}${more}: also used by ${hardware}`;
  }
}
