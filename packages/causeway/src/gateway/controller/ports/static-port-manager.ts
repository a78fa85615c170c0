import {
  addressFromInteger,
  addressToInteger,
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import type { AddressRange } from '@causeway/base/address/address-range';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { noOrphans, type OrphanReport } from '../../../services/orphan.ts';
import type { AddressRecords } from './address-records.ts';
import type { AddressStanding, PortManager, PortRequest } from './port-manager.ts';
import type { L2Port } from './port-slot.ts';
import type { StaticAddresses } from './static-addresses.ts';

export interface AddressLists {
  /** The addresses that Services get. */
  readonly ranges: readonly StaticAddresses[];
  /** Addresses that their present Services keep, and that no other Service gets. */
  readonly retiring?: readonly AddressRange[];
}

/**
 * Addresses of a list. An address in use stays with its Services when it leaves the list, until they are
 * deleted or asked to release it. The address is the port's ID, as ch-k8s-lbaas writes it. Assigned addresses are
 * recorded. After a restart, the records also have the addresses that Services have left and gateways may
 * still announce.
 */
export class StaticPortManager implements PortManager {
  readonly #ranges: readonly StaticAddresses[];
  readonly #retiring: readonly AddressRange[];
  readonly #records: AddressRecords;
  /** The assigned addresses, with the marker of their request. */
  readonly #given = new Map<Address, string>();
  #isRead = false;

  constructor({ ranges, retiring = [] }: AddressLists, records: AddressRecords) {
    this.#ranges = ranges;
    this.#retiring = retiring;
    this.#records = records;
  }

  /** The families of the list, and of addresses in use. */
  get families(): readonly Family[] {
    const listed = this.#ranges.map(({ family }) => family);
    return [...new Set([...listed, ...[...this.#given.keys()].map(familyOf)])];
  }

  standingOf(address: Address): AddressStanding {
    if (isIn(this.#retiring, address)) return 'retiring';
    return isIn(this.#ranges, address) ? 'listed' : 'unlisted';
  }

  async list(
    named: ReadonlySet<string>,
    making: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly L2Port[]> {
    await this.#readRecords(signal);
    await this.#recordNamed(named);
    return [...this.#given]
      .filter(([, marker]) => !making.has(marker))
      .map(([address]) => portAt(address));
  }

  find(id: string): Promise<L2Port | undefined> {
    const address = tryParseAddress(id);
    const isThere = address !== undefined && this.#given.has(address);
    return Promise.resolve(isThere ? portAt(address) : undefined);
  }

  async create(request: PortRequest, signal: AbortSignal): Promise<L2Port> {
    await this.#readRecords(signal);
    const address = this.#choose(request);
    this.#given.set(address, request.marker);
    try {
      await this.#records.enter([address]);
    } catch (error) {
      this.#given.delete(address);
      throw error;
    }
    return portAt(address);
  }

  mark(): Promise<void> {
    return Promise.resolve();
  }

  mend(port: L2Port): Promise<L2Port> {
    return Promise.resolve(port);
  }

  keepPublic(port: L2Port): Promise<L2Port> {
    return Promise.resolve(port);
  }

  async delete(port: L2Port): Promise<void> {
    await this.#records.strike(port.address);
    this.#given.delete(port.address);
  }

  /** All assigned addresses are recorded. */
  isRecorded(): boolean {
    return true;
  }

  record(): Promise<void> {
    return Promise.resolve();
  }

  orphans(): OrphanReport {
    return noOrphans;
  }

  deleteOrphan(): Promise<void> {
    return Promise.resolve();
  }

  sweep(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  async #readRecords(signal: AbortSignal): Promise<void> {
    if (this.#isRead) return;
    for (const address of await this.#records.read(signal)) {
      if (!this.#given.has(address)) this.#given.set(address, '');
    }
    this.#isRead = true;
  }

  /**
   * Adds addresses of Services that are not recorded: from ch-k8s-lbaas, or from before records existed.
   */
  async #recordNamed(named: ReadonlySet<string>): Promise<void> {
    const missing = [...named]
      .flatMap((text) => tryParseAddress(text) ?? [])
      .filter((address) => this.standingOf(address) !== 'unlisted' && !this.#given.has(address));
    for (const address of missing) this.#given.set(address, '');
    await this.#records.enter(missing);
  }

  #choose({ family, requested, instead }: PortRequest): Address {
    const former = instead?.publicAddress;
    const isFree = former !== undefined && this.#isListed(former) && !this.#given.has(former);
    const address = requested ?? (isFree ? former : this.#firstFree(family));
    if (address === undefined) {
      throw new CausewayError('exhausted', `no IPv${family} address is left`, {
        hint: 'Add addresses to the list of the static port manager, or delete Services.',
      });
    }
    if (!this.#isListed(address)) {
      throw new CausewayError('invalid', `${address} is not in the list of addresses`);
    }
    if (this.#given.has(address)) {
      throw new CausewayError('conflict', `${address} is in use`);
    }
    return address;
  }

  #isListed(address: Address): boolean {
    return this.standingOf(address) === 'listed';
  }

  #firstFree(family: Family): Address | undefined {
    for (const { automatic } of this.#ranges) {
      if (automatic.family !== family) continue;
      for (let value = automatic.first; value <= automatic.last; value += 1n) {
        const address = addressFromInteger(value, family);
        if (!this.#given.has(address) && this.#isListed(address)) return address;
      }
    }
    return undefined;
  }
}

function portAt(address: Address): L2Port {
  return { id: address, family: familyOf(address), address, publicAddress: address };
}

function isIn(ranges: readonly AddressRange[], address: Address): boolean {
  const value = addressToInteger(address);
  return ranges.some(
    ({ family, first, last }) => family === familyOf(address) && first <= value && value <= last,
  );
}
