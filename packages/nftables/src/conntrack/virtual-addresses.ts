import type { Address } from '@causeway/base/address/address';
import { binary } from './connection-keys.ts';
import { addressTail, type Tracked } from './tracked-connection.ts';

/** Matches connections to a virtual address, in either direction. */
export class VirtualAddresses {
  readonly #addresses: ReadonlySet<string>;

  /** For `Query.virtual`. */
  readonly tails: ReadonlySet<number>;

  constructor(addresses: ReadonlySet<Address>) {
    this.tails = new Set([...addresses].map(addressTail));
    this.#addresses = new Set([...addresses].map(binary));
  }

  includes({ original, reply }: Tracked): boolean {
    return this.#addresses.has(original.destination) || this.#addresses.has(reply.destination);
  }
}
