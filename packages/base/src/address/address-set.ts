import {
  addressFromInteger,
  addressToInteger,
  familyOf,
  type Address,
  type Family,
} from './address.ts';
import type { AddressRange } from './address-range.ts';
import { CausewayError } from '../error/causeway-error.ts';

/**
 * A set of addresses of one family. It stores sorted ranges that neither touch nor overlap, so an IPv6 /64
 * costs as little as one address. Its members are numbered from 0 in ascending order.
 */
export class AddressSet {
  readonly family: Family;
  readonly ranges: readonly AddressRange[];
  readonly size: bigint;
  /** The number of members before each range. */
  readonly #before: readonly bigint[];

  private constructor(family: Family, ranges: readonly AddressRange[]) {
    this.family = family;
    this.ranges = ranges;
    const before: bigint[] = [];
    let size = 0n;
    for (const range of ranges) {
      before.push(size);
      size += range.last - range.first + 1n;
    }
    this.#before = before;
    this.size = size;
  }

  /** The union of the ranges of this family. Ranges of the other family are skipped. */
  static of(family: Family, ranges: Iterable<AddressRange>): AddressSet {
    const sorted = [...ranges]
      .filter((range) => range.family === family)
      .sort((left, right) => (left.first < right.first ? -1 : left.first > right.first ? 1 : 0));
    const merged: AddressRange[] = [];
    for (const range of sorted) {
      const previous = merged.at(-1);
      if (previous === undefined || range.first > previous.last + 1n) merged.push(range);
      else if (range.last > previous.last) merged.splice(-1, 1, { ...previous, last: range.last });
    }
    return new AddressSet(family, merged);
  }

  without(other: AddressSet): AddressSet {
    let rest: AddressRange[] = [...this.ranges];
    for (const hole of other.ranges) {
      rest = rest.flatMap((range) => subtract(range, hole));
    }
    return new AddressSet(this.family, rest);
  }

  has(address: Address): boolean {
    return this.indexOf(address) !== undefined;
  }

  /** The number of the member, or undefined if the address is not a member. */
  indexOf(address: Address): bigint | undefined {
    if (familyOf(address) !== this.family) return undefined;
    const value = addressToInteger(address);
    const at = this.#lastRangeWhere((range) => range.first <= value);
    const range = this.ranges[at];
    if (range === undefined || value > range.last) return undefined;
    return (this.#before[at] ?? 0n) + value - range.first;
  }

  /** The member with this number. Throws if the number is out of range. */
  at(index: bigint): Address {
    const at = this.#lastRangeWhere((_range, before) => before <= index);
    const range = this.ranges[at];
    if (index < 0n || index >= this.size || range === undefined) {
      throw new CausewayError('internal', `there is no address number ${index} of ${this.size}`);
    }
    return addressFromInteger(range.first + index - (this.#before[at] ?? 0n), this.family);
  }

  /** The first range that both sets share, if any. */
  overlap(other: AddressSet): AddressRange | undefined {
    for (const range of this.ranges) {
      for (const candidate of other.ranges) {
        const first = range.first > candidate.first ? range.first : candidate.first;
        const last = range.last < candidate.last ? range.last : candidate.last;
        if (this.family === other.family && first <= last) {
          return { family: this.family, first, last };
        }
      }
    }
    return undefined;
  }

  /**
   * Binary search. The predicate holds for the first ranges, possibly for none; in this case the result is
   * -1.
   */
  #lastRangeWhere(holds: (range: AddressRange, before: bigint) => boolean): number {
    let low = -1;
    let high = this.ranges.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      const range = this.ranges[middle];
      if (range !== undefined && holds(range, this.#before[middle] ?? 0n)) low = middle;
      else high = middle;
    }
    return low;
  }
}

function subtract(range: AddressRange, hole: AddressRange): AddressRange[] {
  if (hole.family !== range.family || hole.last < range.first || hole.first > range.last) {
    return [range];
  }
  const rest: AddressRange[] = [];
  if (hole.first > range.first) rest.push({ ...range, last: hole.first - 1n });
  if (hole.last < range.last) rest.push({ ...range, first: hole.last + 1n });
  return rest;
}
