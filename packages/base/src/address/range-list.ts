import { createHash } from 'node:crypto';
import { addressToInteger } from './address.ts';
import { formatPrefix, prefixFamily, type Prefix } from './prefix.ts';

/**
 * Lists of networks from which a Service accepts clients. All ports of a Service share one list object, and
 * values computed from a list are cached with the object. So the work for a Service grows with the sum of its
 * ports and ranges, and not with their product.
 */
export type RangeList = readonly Prefix[];

const canonical = new WeakSet<RangeList>();
const ids = new WeakMap<RangeList, string>();

/** The networks sorted and without duplicates: IPv4 before IPv6, by address, the wider network first. */
export function canonicalRanges(ranges: RangeList): RangeList {
  if (canonical.has(ranges)) return ranges;
  const keyed = ranges.map((range) => ({
    range,
    family: prefixFamily(range),
    start: addressToInteger(range.address),
  }));
  keyed.sort(
    (left, right) =>
      left.family - right.family ||
      (left.start < right.start ? -1 : left.start > right.start ? 1 : 0) ||
      left.range.length - right.range.length,
  );
  const sorted = keyed.map(({ range }) => range).filter(differsFromBefore);
  canonical.add(sorted);
  return sorted;
}

function differsFromBefore(range: Prefix, index: number, all: RangeList): boolean {
  const before = all[index - 1];
  return before?.address !== range.address || before.length !== range.length;
}

/** Equal lists have the same ID, and different lists have different IDs. Computed once for a list object. */
export function rangesId(ranges: RangeList): string {
  let id = ids.get(ranges);
  if (id === undefined) {
    const text = ranges.map(formatPrefix).join();
    id = createHash('sha256').update(text).digest('hex').slice(0, 32);
    ids.set(ranges, id);
  }
  return id;
}

export function sameRanges(left: RangeList, right: RangeList): boolean {
  if (left === right) return true;
  return left.length === right.length && rangesId(left) === rangesId(right);
}
