import type { Address } from '@causeway/base/address/address';
import type { AddressSet } from '@causeway/base/address/address-set';

/** Above this many addresses a pool's occupancy is kept as a set of numbers instead of a bitmap. */
const largestBitmap = 1n << 20n;

/** Tracks the taken members of an address set, and finds the next free member from any start. */
export interface Occupancy {
  readonly taken: number;
  mark(address: Address, taken: boolean): void;
  /** Free members in ascending order from the start, wrapping around at the end, each at most once. */
  freeFrom(start: number): Generator<Address, undefined>;
}

export function createOccupancy(set: AddressSet): Occupancy {
  return set.size <= largestBitmap ? new DenseOccupancy(set) : new SparseOccupancy(set);
}

/**
 * One bit for each address: full words are skipped 32 addresses at a time, so a full pool costs little more
 * than an empty one.
 */
class DenseOccupancy implements Occupancy {
  readonly #set: AddressSet;
  readonly #size: number;
  readonly #words: Uint32Array;
  taken = 0;

  constructor(set: AddressSet) {
    this.#set = set;
    this.#size = Number(set.size);
    this.#words = new Uint32Array(Math.ceil(this.#size / 32));
    // The bits past the end are always taken.
    const surplus = this.#words.length * 32 - this.#size;
    if (surplus > 0) this.#words[this.#words.length - 1] = ~0 << (32 - surplus);
  }

  mark(address: Address, taken: boolean): void {
    const index = this.#set.indexOf(address);
    if (index === undefined) return;
    const at = Number(index);
    const word = this.#words[at >>> 5] ?? 0;
    const bit = 1 << (at & 31);
    if (((word & bit) !== 0) === taken) return;
    this.#words[at >>> 5] = taken ? word | bit : word & ~bit;
    this.taken += taken ? 1 : -1;
  }

  *freeFrom(start: number): Generator<Address, undefined> {
    if (this.#size === 0) return undefined;
    const origin = start % this.#size;
    const first = origin >>> 5;
    // The word of the start is visited twice: its upper bits first, its lower bits at the very end.
    for (let step = 0; step <= this.#words.length; step += 1) {
      const at = (first + step) % this.#words.length;
      let free = ~(this.#words[at] ?? ~0);
      if (step === 0) free &= ~0 << (origin & 31);
      if (step === this.#words.length) free &= ~(~0 << (origin & 31));
      while (free !== 0) {
        const bit = 31 - Math.clz32(free & -free);
        free &= free - 1;
        yield this.#set.at(BigInt(at * 32 + bit));
      }
    }
    return undefined;
  }
}

class SparseOccupancy implements Occupancy {
  readonly #set: AddressSet;
  readonly #taken = new Set<bigint>();

  constructor(set: AddressSet) {
    this.#set = set;
  }

  get taken(): number {
    return this.#taken.size;
  }

  mark(address: Address, taken: boolean): void {
    const index = this.#set.indexOf(address);
    if (index === undefined) return;
    if (taken) this.#taken.add(index);
    else this.#taken.delete(index);
  }

  *freeFrom(start: number): Generator<Address, undefined> {
    // The start has 32 bits; the multiplication spreads it over a large set.
    const origin = (BigInt(start) * 0x9e3779b97f4a7c15n) % this.#set.size;
    for (let step = 0n; step < this.#set.size; step += 1n) {
      const index = (origin + step) % this.#set.size;
      if (!this.#taken.has(index)) yield this.#set.at(index);
    }
    return undefined;
  }
}

/** FNV-1a, 32 bits: where the search of an owner starts, so that different owners rarely collide. */
export function hashedStart(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  // FNV's low bits are weak for short texts; fold the high ones in.
  return (hash ^ (hash >>> 15)) >>> 0;
}
