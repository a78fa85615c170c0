import type { Family } from '@causeway/base/address/address';
import { rangesId, type RangeList } from '@causeway/base/address/range-list';
import { mergedRanges } from './address-ranges.ts';
import type { FilledSet } from './fragment.ts';
import { derivedName } from '../model/names.ts';
import { addressType } from './skeleton.ts';

const kept = new WeakMap<RangeList, FilledSet>();

/**
 * The set that holds source ranges. Its name is a digest of its content, so all services with the same ranges
 * share one set. The kernel stores the ranges of a Service once, for any number of ports. A set never
 * changes; other ranges are another set.
 */
export function rangeSet(ranges: RangeList, family: Family): FilledSet {
  const known = kept.get(ranges);
  if (known?.definition.key[0] === addressType(family)) return known;
  const set: FilledSet = {
    definition: {
      name: derivedName('ranges', String(family), rangesId(ranges)),
      key: [addressType(family)],
      interval: true,
    },
    elements: mergedRanges(ranges, family).map(({ first, last }) => ({
      key: [first],
      keyEnd: [last],
    })),
  };
  kept.set(ranges, set);
  return set;
}
