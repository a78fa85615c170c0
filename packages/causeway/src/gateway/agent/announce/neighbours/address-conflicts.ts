import type { Address } from '@causeway/base/address/address';
import type { NeighbourBinding } from './neighbour-binding.ts';

/** Time that a conflict is kept. A machine that uses an address announces it again. */
const conflictLifetimeMs = 15_000;
/** Time after a failover in which messages of the previous active gateway may still arrive. */
const handoverMs = 2_000;

/** Other machines that use this gateway's addresses while it is active (RFC 5227: address conflict). */
export class AddressConflicts {
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

  /** Records another machine's binding for an address of this gateway. */
  hear({ address, hardware }: NeighbourBinding, now: number): void {
    if (this.#activeSince === undefined || now - this.#activeSince < handoverMs) return;
    this.#seen.set(address, { hardware, at: now });
  }

  /** The alarm message; undefined without a current conflict. */
  complaint(now: number): string | undefined {
    for (const [address, { at }] of this.#seen) {
      if (now - at >= conflictLifetimeMs) this.#seen.delete(address);
    }
    const [first] = this.#seen;
    if (first === undefined) return undefined;
    const [address, { hardware }] = first;
    const more = this.#seen.size === 1 ? '' : `, and ${this.#seen.size - 1} more`;
    return `${address}${more}: also used by ${hardware}`;
  }
}
