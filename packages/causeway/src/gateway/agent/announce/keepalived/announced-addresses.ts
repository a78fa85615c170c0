import { z } from 'zod';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { replaceFile } from '@causeway/base/process/atomic-file';
import type { Log } from '@causeway/base/observability/log';
import { loadSmallFile } from '../../store/small-file.ts';

const fileContent = z.array(z.string().transform(parseAddress));

/**
 * Every address that keepalived was configured with since boot. An address on a link that is listed here but
 * not wanted is an orphan. An address that is not listed here belongs to another program.
 */
export class AnnouncedAddresses {
  readonly #file: string;
  #addresses: ReadonlySet<Address>;

  private constructor(file: string, addresses: ReadonlySet<Address>) {
    this.#file = file;
    this.#addresses = addresses;
  }

  /** A damaged file is set aside. Addresses that only it named stay on the links. */
  static async load(file: string, log: Log): Promise<AnnouncedAddresses> {
    const { value, damage } = await loadSmallFile<Address[]>(file, fileContent, []);
    if (damage !== undefined) log.error({ file }, damage);
    return new AnnouncedAddresses(file, new Set(value));
  }

  get all(): ReadonlySet<Address> {
    return this.#addresses;
  }

  /** Stores the addresses before keepalived's configuration gets them. */
  async add(addresses: ReadonlySet<Address>): Promise<void> {
    const union = this.#addresses.union(addresses);
    if (union.size !== this.#addresses.size) await this.#write(union);
  }

  async remove(addresses: ReadonlySet<Address>): Promise<void> {
    const rest = this.#addresses.difference(addresses);
    if (rest.size !== this.#addresses.size) await this.#write(rest);
  }

  async #write(addresses: ReadonlySet<Address>): Promise<void> {
    await replaceFile(this.#file, JSON.stringify([...addresses]));
    this.#addresses = addresses;
  }
}
