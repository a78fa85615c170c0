import type { Address } from '@causeway/base/address/address';
import type { AddressRecords } from './address-records.ts';

/** Address records in memory, for tests. */
export class MemoryAddressRecords implements AddressRecords {
  readonly #addresses = new Set<Address>();

  read(): Promise<ReadonlySet<Address>> {
    return Promise.resolve(new Set(this.#addresses));
  }

  enter(addresses: readonly Address[]): Promise<void> {
    for (const address of addresses) this.#addresses.add(address);
    return Promise.resolve();
  }

  strike(address: Address): Promise<void> {
    this.#addresses.delete(address);
    return Promise.resolve();
  }
}
