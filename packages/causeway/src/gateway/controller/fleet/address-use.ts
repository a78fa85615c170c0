import type { Address } from '@causeway/base/address/address';
import { SmallSets } from '@causeway/base/work/small-sets';

/**
 * The addresses in the desired state, and the generation in which each former address left it. A gateway that
 * has confirmed this generation no longer announces the address.
 */
export class AddressUse {
  readonly #byService = new SmallSets<string, Address>();
  readonly #users = new Map<Address, number>();
  readonly #leftIn = new Map<Address, number>();

  /** Sets the addresses of the Service from this generation on. */
  set(service: string, addresses: ReadonlySet<Address>, generation: number): void {
    const before = new Set(this.#byService.of(service));
    for (const address of addresses) {
      if (before.has(address)) continue;
      this.#byService.add(service, address);
      this.#users.set(address, (this.#users.get(address) ?? 0) + 1);
      this.#leftIn.delete(address);
    }
    for (const address of before.difference(addresses)) {
      this.#byService.delete(service, address);
      this.#leave(address, generation);
    }
  }

  isUsed(address: Address): boolean {
    return this.#users.has(address);
  }

  /**
   * Undefined if the address was never in the state. Kept forever: there are at most as many as the cloud has
   * addresses.
   */
  leftIn(address: Address): number | undefined {
    return this.#leftIn.get(address);
  }

  #leave(address: Address, generation: number): void {
    const users = (this.#users.get(address) ?? 1) - 1;
    if (users > 0) {
      this.#users.set(address, users);
      return;
    }
    this.#users.delete(address);
    this.#leftIn.set(address, generation);
  }
}
