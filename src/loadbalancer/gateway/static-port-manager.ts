import {
  addressFromInteger,
  addressToInteger,
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '../../domain/address.ts';
import type { AddressRange } from '../../domain/address-range.ts';
import { CausewayError } from '../../domain/error.ts';
import type { PortManager, PortWish } from './port-manager.ts';
import type { L2Port } from './port-mapper.ts';

/** Addresses of a list. The address is the port's id, as ch-k8s-lbaas writes it. */
export class StaticPortManager implements PortManager {
  readonly families: readonly Family[];
  readonly #ranges: readonly AddressRange[];
  readonly #used = new Set<Address>();

  constructor(ranges: readonly AddressRange[]) {
    this.#ranges = ranges;
    this.families = [...new Set(ranges.map(({ family }) => family))];
  }

  list(claimed: ReadonlySet<string>): Promise<readonly L2Port[]> {
    const ports: L2Port[] = [];
    for (const text of claimed) {
      const address = tryParseAddress(text);
      if (address === undefined || !this.#holds(address)) continue;
      this.#used.add(address);
      ports.push(portAt(address));
    }
    return Promise.resolve(ports);
  }

  create(wish: PortWish): Promise<L2Port> {
    const former = wish.instead?.publicAddress;
    const isFree = former !== undefined && this.#holds(former) && !this.#used.has(former);
    const address = wish.requested ?? (isFree ? former : this.#firstFree(wish.family));
    if (address === undefined) {
      return Promise.reject(
        new CausewayError('exhausted', `no IPv${wish.family} address is left`, {
          hint: 'Add addresses to the list of the static port manager, or delete Services.',
        }),
      );
    }
    if (!this.#holds(address)) {
      return Promise.reject(
        new CausewayError('invalid', `${address} is not in the list of addresses`),
      );
    }
    if (this.#used.has(address)) {
      return Promise.reject(new CausewayError('conflict', `${address} is in use`));
    }
    this.#used.add(address);
    return Promise.resolve(portAt(address));
  }

  mend(port: L2Port): Promise<L2Port> {
    return Promise.resolve(port);
  }

  keepPublic(port: L2Port): Promise<L2Port> {
    return Promise.resolve(port);
  }

  delete(port: L2Port): Promise<void> {
    this.#used.delete(port.address);
    return Promise.resolve();
  }

  sweep(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  #holds(address: Address): boolean {
    const value = addressToInteger(address);
    return this.#ranges.some(
      ({ family, first, last }) => family === familyOf(address) && first <= value && value <= last,
    );
  }

  #firstFree(family: Family): Address | undefined {
    for (const range of this.#ranges) {
      if (range.family !== family) continue;
      for (let value = range.first; value <= range.last; value += 1n) {
        const address = addressFromInteger(value, family);
        if (!this.#used.has(address)) return address;
      }
    }
    return undefined;
  }
}

function portAt(address: Address): L2Port {
  return { id: address, family: familyOf(address), address, publicAddress: address };
}
