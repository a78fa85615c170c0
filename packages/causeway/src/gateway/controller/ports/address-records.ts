import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { ConfigMapRecords, type RecordFormat, type RecordPlace } from './config-map-records.ts';

/**
 * The record of the assigned addresses of a static list. After a restart, only this record names an address
 * that no Service uses any more, but that a gateway may still announce.
 */
export interface AddressRecords {
  read(signal: AbortSignal): Promise<ReadonlySet<Address>>;
  /** Resolves when the addresses are written. They must not be used before. */
  enter(addresses: readonly Address[]): Promise<void>;
  /** Called when no Service uses the address and no gateway can announce it. */
  strike(address: Address): Promise<void>;
}

/** The ConfigMap beside the controller's lease. */
export const addressRecordsName = 'causeway-gateway-addresses';

const addressFormat: RecordFormat<Address> = {
  name: addressRecordsName,
  value: 'given',
  parse: (key) => tryParseAddress(key.replaceAll('_', ':')),
  format: (address) => address.replaceAll(':', '_'),
};

export class ConfigMapAddressRecords implements AddressRecords {
  readonly #records: ConfigMapRecords<Address>;

  constructor(place: RecordPlace) {
    this.#records = new ConfigMapRecords(place, addressFormat);
  }

  read(signal: AbortSignal): Promise<ReadonlySet<Address>> {
    return this.#records.read(signal);
  }

  enter(addresses: readonly Address[]): Promise<void> {
    return this.#records.enter(addresses);
  }

  strike(address: Address): Promise<void> {
    return this.#records.strike([address]);
  }
}
