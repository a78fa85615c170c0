import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { ConfigMapBook, type BookFormat, type BookPlace } from './config-map-records.ts';

/**
 * The record of the assigned addresses of a static list. After a restart, only this record names an address
 * that no Service uses any more, but that a gateway may still announce.
 */
export interface AddressBook {
  read(signal: AbortSignal): Promise<ReadonlySet<Address>>;
  /** Resolves when the addresses are written. They must not be used before. */
  enter(addresses: readonly Address[]): Promise<void>;
  /** Called when no Service uses the address and no gateway can announce it. */
  strike(address: Address): Promise<void>;
}

/** The ConfigMap beside the controller's lease. */
export const addressBookName = 'causeway-gateway-addresses';

const addressFormat: BookFormat<Address> = {
  name: addressBookName,
  value: 'given',
  parse: (key) => tryParseAddress(key.replaceAll('_', ':')),
  format: (address) => address.replaceAll(':', '_'),
};

export class ConfigMapAddressBook implements AddressBook {
  readonly #book: ConfigMapBook<Address>;

  constructor(place: BookPlace) {
    this.#book = new ConfigMapBook(place, addressFormat);
  }

  read(signal: AbortSignal): Promise<ReadonlySet<Address>> {
    return this.#book.read(signal);
  }

  enter(addresses: readonly Address[]): Promise<void> {
    return this.#book.enter(addresses);
  }

  strike(address: Address): Promise<void> {
    return this.#book.strike([address]);
  }
}
