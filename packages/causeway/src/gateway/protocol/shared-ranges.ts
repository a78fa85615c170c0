import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { formatPrefix, parsePrefix } from '@causeway/base/address/prefix';
import { canonicalRanges, rangesId, type RangeList } from '@causeway/base/address/range-list';
import type { Frontend } from './frontend.ts';

/**
 * Source ranges on the wire and in the agent's files, from revision 3 on: a separate record for each list,
 * which frontends name by its ID. The ports of a Service have the same list, and would otherwise repeat it.
 */
interface RangesRecord {
  readonly ranges: { readonly id: string; readonly list: readonly string[] };
}

const rangesRecord = z.strictObject({ id: z.string().max(64), list: z.array(z.string()) });

/** Writes each list once, before the first frontend that names it. */
export class RangesWriter {
  readonly #written = new Set<string>();

  /** The record that must precede the frontend; undefined if it was already written or is not needed. */
  before({ sourceRanges }: Frontend): RangesRecord | undefined {
    if (sourceRanges.length === 0) return undefined;
    const id = rangesId(sourceRanges);
    if (this.#written.has(id)) return undefined;
    this.#written.add(id);
    return { ranges: { id, list: sourceRanges.map(formatPrefix) } };
  }
}

/** Finds the lists that frontends name. */
export class RangesReader {
  readonly #lists = new Map<string, RangeList>();

  add(body: unknown): void {
    const { id, list } = rangesRecord.parse(body);
    const ranges = canonicalRanges(list.map(parsePrefix));
    if (rangesId(ranges) !== id) {
      throw new CausewayError('invalid', "the ranges don't match their ID");
    }
    this.#lists.set(id, ranges);
  }

  /** A frontend with unknown ranges is invalid: without them, all clients could connect. */
  find(id: string): RangeList {
    const ranges = this.#lists.get(id);
    if (ranges !== undefined && ranges.length > 0) return ranges;
    throw new CausewayError('invalid', 'no record has the source ranges that the frontend names');
  }
}
