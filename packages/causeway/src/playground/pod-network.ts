import { addressFromInteger, addressToInteger } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePrefix, prefixFamily, prefixSize } from '@causeway/base/address/prefix';

const mostUsed = 2 ** 16;

/**
 * The addresses of one node's pods. It cycles through the range, so that a released address is reused late.
 */
export class PodNetwork {
  readonly #range;
  readonly #size: number;
  readonly #taken = new Set<string>();
  #next = 1;

  constructor(prefix: string) {
    this.#range = parsePrefix(prefix);
    const size = prefixSize(this.#range);
    this.#size = size > BigInt(mostUsed) ? mostUsed : Number(size);
  }

  take(): string {
    const first = addressToInteger(this.#range.address);
    for (let tries = 0; tries < this.#size; tries += 1) {
      const address = addressFromInteger(first + BigInt(this.#next), prefixFamily(this.#range));
      this.#next = this.#next + 1 >= this.#size - 1 ? 1 : this.#next + 1;
      if (this.#taken.has(address)) continue;
      this.#taken.add(address);
      return address;
    }
    throw new CausewayError('exhausted', 'the pod network has no free address');
  }

  free(address: string): void {
    this.#taken.delete(address);
  }
}
