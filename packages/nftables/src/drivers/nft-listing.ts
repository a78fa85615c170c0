import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';

const listing = z.object({ nftables: z.array(z.record(z.string(), z.unknown())) });

/** The items of the output of `nft -j list`. */
export function listingItems(text: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    return listing.parse(JSON.parse(text)).nftables;
  } catch (cause) {
    throw new CausewayError('unavailable', 'unexpected output of nft', { cause });
  }
}
