import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { formatPrefix, parsePrefix } from '@causeway/base/address/prefix';
import { canonicalRanges, rangesId, type RangeList } from '@causeway/base/address/range-list';
import type { Endpoint } from './endpoint.ts';

/**
 * Source ranges on the wire and in the agent's files, from revision 3 on: a record of their own, once for
 * each list, which endpoints name by its id. The ports of a Service have the same list, and would
 * otherwise repeat it.
 */
interface RangesRecord {
  readonly ranges: { readonly id: string; readonly list: readonly string[] };
}

const rangesRecord = z.strictObject({ id: z.string().max(64), list: z.array(z.string()) });

/** Writes each list once, before the first endpoint that names it. */
export class RangesWriter {
  readonly #written = new Set<string>();

  /** The record that must come before the endpoint; undefined where it has been written or is not needed. */
  before({ sourceRanges }: Endpoint): RangesRecord | undefined {
    if (sourceRanges.length === 0) return undefined;
    const id = rangesId(sourceRanges);
    if (this.#written.has(id)) return undefined;
    this.#written.add(id);
    return { ranges: { id, list: sourceRanges.map(formatPrefix) } };
  }
}

/** Finds the lists that endpoints name. */
export class RangesReader {
  readonly #lists = new Map<string, RangeList>();

  add(body: unknown): void {
    const { id, list } = rangesRecord.parse(body);
    const ranges = canonicalRanges(list.map(parsePrefix));
    if (rangesId(ranges) !== id) {
      throw new CausewayError('invalid', 'the ranges are not those that the id stands for');
    }
    this.#lists.set(id, ranges);
  }

  /** An endpoint whose ranges are unknown is wrong: without them everybody could connect. */
  find(id: string): RangeList {
    const ranges = this.#lists.get(id);
    if (ranges !== undefined && ranges.length > 0) return ranges;
    throw new CausewayError('invalid', 'no record has the source ranges that the endpoint names');
  }
}
