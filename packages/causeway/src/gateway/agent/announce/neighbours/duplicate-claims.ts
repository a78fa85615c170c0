import type { Address } from '@causeway/base/address/address';
import type { AddressClaim } from './address-claim.ts';

/** How long a claim is held against somebody. Whoever uses an address goes on saying so. */
const rememberMs = 15_000;
/** The gateway that had the addresses before may still be heard so shortly after. */
const handoverMs = 2_000;

/** Who else on the link says that an address of ours is theirs, while we are the one to have it. */
export class DuplicateClaims {
  readonly #seen = new Map<Address, { hardware: string; at: number }>();
  #masterSince: number | undefined;

  /** Milliseconds of a clock that only goes forward. */
  setMaster(isMaster: boolean, now: number): void {
    if (!isMaster) {
      this.#masterSince = undefined;
      this.#seen.clear();
    } else {
      this.#masterSince ??= now;
    }
  }

  /** A claim to an address of ours from hardware that is not ours. */
  hear({ address, hardware }: AddressClaim, now: number): void {
    if (this.#masterSince === undefined || now - this.#masterSince < handoverMs) return;
    this.#seen.set(address, { hardware, at: now });
  }

  /** What to tell an operator; undefined when there is nothing. */
  complaint(now: number): string | undefined {
    for (const [address, { at }] of this.#seen) {
      if (now - at >= rememberMs) this.#seen.delete(address);
    }
    const [first] = this.#seen;
    if (first === undefined) return undefined;
    const [address, { hardware }] = first;
    const more = this.#seen.size === 1 ? '' : `, and ${this.#seen.size - 1} more`;
    return `${address}${more}: used by ${hardware} as well`;
  }
}
