import type { Family } from '@causeway/base/address/address';
import { parseAddressRange, type AddressRange } from '@causeway/base/address/address-range';

/** One entry of the list of the static port manager. */
export interface StaticAddresses extends AddressRange {
  /** The addresses that Services get without a request. The others are assigned on request only. */
  readonly automatic: AddressRange;
}

/**
 * Parses an entry of the list. A network includes its network and broadcast address (IPv4) or its
 * subnet-router anycast address (IPv6, RFC 4291), which many networks don't deliver to a host. Services get
 * these addresses on request only. An address or a range is used as written.
 */
export function parseStaticAddresses(text: string): StaticAddresses {
  const range = parseAddressRange(text);
  return { ...range, automatic: text.includes('/') ? hostsOf(range) : range };
}

/** Networks of one or two addresses have no special ones (RFC 3021, RFC 6164). */
function hostsOf({ family, first, last }: AddressRange): AddressRange {
  if (last - first < 2n) return { family, first, last };
  return { family, first: first + 1n, last: last - specialAtEnd[family] };
}

const specialAtEnd: Readonly<Record<Family, bigint>> = { 4: 1n, 6: 0n };
