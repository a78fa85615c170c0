import fs from 'node:fs/promises';
import { z } from 'zod';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { replaceFile } from '@causeway/base/process/atomic-file';
import { readStoredJson } from '../../store/stored-json.ts';

const fileContent = z.array(z.string().transform(parseAddress));

/**
 * Every address that keepalived was ever told to hold since the machine started. What is on the link,
 * stands here and is not meant to be there is a leftover of ours; what does not stand here is not ours.
 */
export class AnnouncedAddresses {
  readonly #file: string;
  #addresses: ReadonlySet<Address>;

  private constructor(file: string, addresses: ReadonlySet<Address>) {
    this.#file = file;
    this.#addresses = addresses;
  }

  static async load(file: string): Promise<AnnouncedAddresses> {
    const text = await fs.readFile(file, 'utf8').catch(() => '[]');
    return new AnnouncedAddresses(file, new Set(readStoredJson(file, text, fileContent)));
  }

  get all(): ReadonlySet<Address> {
    return this.#addresses;
  }

  /** Writes the claim down before keepalived hears of it. */
  async add(addresses: ReadonlySet<Address>): Promise<void> {
    const union = this.#addresses.union(addresses);
    if (union.size !== this.#addresses.size) await this.#write(union);
  }

  async forget(addresses: ReadonlySet<Address>): Promise<void> {
    const rest = this.#addresses.difference(addresses);
    if (rest.size !== this.#addresses.size) await this.#write(rest);
  }

  async #write(addresses: ReadonlySet<Address>): Promise<void> {
    await replaceFile(this.#file, JSON.stringify([...addresses]));
    this.#addresses = addresses;
  }
}
