import {
  addressFromInteger,
  addressToInteger,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import {
  firstAddress,
  lastAddress,
  prefixFamily,
  type Prefix,
} from '@causeway/base/address/prefix';

/** Addresses from the first to the last, inclusive. */
export interface AddressRange {
  readonly first: Address;
  readonly last: Address;
}

interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

/** The prefixes of one family as ranges that neither overlap nor touch, in order. */
export function mergedRanges(prefixes: readonly Prefix[], family: Family): AddressRange[] {
  return toRanges(mergeSpans(spansOf(prefixes, family)), family);
}

/** The prefixes of one family without the exceptions. */
export function rangesWithout(
  prefixes: readonly Prefix[],
  exceptions: readonly Prefix[],
  family: Family,
): AddressRange[] {
  const holes = mergeSpans(spansOf(exceptions, family));
  const left: Span[] = [];
  for (const span of mergeSpans(spansOf(prefixes, family))) {
    let first = span.first;
    for (const hole of holes) {
      if (hole.last < first || hole.first > span.last) continue;
      if (hole.first > first) left.push({ first, last: hole.first - 1n });
      first = hole.last + 1n;
    }
    if (first <= span.last) left.push({ first, last: span.last });
  }
  return toRanges(left, family);
}

/** Merges ranges from several sources into ranges that neither overlap nor touch. */
export function unionOfRanges(ranges: readonly AddressRange[], family: Family): AddressRange[] {
  const spans = ranges.map(({ first, last }) => ({
    first: addressToInteger(first),
    last: addressToInteger(last),
  }));
  return toRanges(mergeSpans(spans), family);
}

function spansOf(prefixes: readonly Prefix[], family: Family): Span[] {
  return prefixes
    .filter((prefix) => prefixFamily(prefix) === family)
    .map((prefix) => ({
      first: addressToInteger(firstAddress(prefix)),
      last: addressToInteger(lastAddress(prefix)),
    }));
}

function mergeSpans(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const merged: Span[] = [];
  for (const span of sorted) {
    const previous = merged.at(-1);
    if (previous === undefined || span.first > previous.last + 1n) {
      merged.push(span);
    } else if (span.last > previous.last) {
      merged[merged.length - 1] = { first: previous.first, last: span.last };
    }
  }
  return merged;
}

function toRanges(spans: readonly Span[], family: Family): AddressRange[] {
  return spans.map(({ first, last }) => ({
    first: addressFromInteger(first, family),
    last: addressFromInteger(last, family),
  }));
}
